// Open menus close on a click outside them, and on Escape.

export function closeMenus(): void {
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape") {
      openMenus().forEach((menu) => {
        menu.removeAttribute("open");
        menu.querySelector("summary")?.focus();
      });
    }
  });
  // Before other effects of the click, which may open a menu.
  addEventListener("click", (event) => openMenus().filter((menu) => !menu.contains(event.target as Node)).forEach((menu) => menu.removeAttribute("open")), true);
}

function openMenus(): Element[] {
  return [...document.querySelectorAll("details.menu[open]")];
}
