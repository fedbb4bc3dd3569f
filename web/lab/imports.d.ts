declare module "*.grammar" {
  export const parser: import("@lezer/lr").LRParser;
}

declare module "*.toml" {
  const text: string;
  export default text;
}
