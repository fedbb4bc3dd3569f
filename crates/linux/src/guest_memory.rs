//! The physical memory of a kernel, as the vhost-user message SET_MEM_TABLE describes it.

use crate::fault::{Fault, fault};
use crate::mapping::Mapping;
use std::sync::atomic::AtomicU16;

/// Regions of memory by guest address.
#[derive(Default)]
pub(crate) struct GuestMemory(Vec<(u64, Mapping)>);

impl GuestMemory {
    pub(crate) fn new(regions: Vec<(u64, Mapping)>) -> GuestMemory {
        GuestMemory(regions)
    }

    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        let (mapping, at) = self.region(address)?;
        mapping.read(at, into)
    }

    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let (mapping, at) = self.region(address)?;
        mapping.write(at, bytes)
    }

    pub(crate) fn u16(&self, address: u64) -> Result<&AtomicU16, Fault> {
        let (mapping, at) = self.region(address)?;
        mapping.u16(at)
    }

    fn region(&self, address: u64) -> Result<(&Mapping, u64), Fault> {
        let contains = |(start, mapping): &&(u64, Mapping)| address >= *start && address - start < mapping.length();
        match self.0.iter().find(contains) {
            Some((start, mapping)) => Ok((mapping, address - start)),
            None => fault(format!("the address {address:#x} is not in its memory")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::tests::memory;

    #[test]
    fn addresses_select_a_region() {
        let memory = GuestMemory::new(vec![(0x1000, memory(4096)), (0x9000, memory(4096))]);
        memory.write(0x9ffe, &[7, 8]).unwrap();
        let mut read = [0; 2];
        memory.read(0x9ffe, &mut read).unwrap();
        assert_eq!(read, [7, 8]);
        assert_eq!(memory.u16(0x2000).map(|_| ()).unwrap_err().0, "the address 0x2000 is not in its memory");
        assert!(memory.read(0x1fff, &mut read).is_err());
    }
}
