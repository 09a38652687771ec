import { parseAbi } from 'viem'

/**
 * Subset of LayerZero's message libraries SendUln302 and ReceiveUln302 in use, and what an application says to the
 * endpoint about them (IMessageLibManager), as the public interfaces of `@layerzerolabs/lz-evm-messagelib-v2` and
 * `@layerzerolabs/lz-evm-protocol-v2` have it.
 */
export const libraryManagerAbi = parseAbi([
  'struct SetConfigParam { uint32 eid; uint32 configType; bytes config; }',
  'function getSendLibrary(address sender, uint32 dstEid) view returns (address)',
  'function isDefaultSendLibrary(address sender, uint32 dstEid) view returns (bool)',
  'function getReceiveLibrary(address receiver, uint32 srcEid) view returns (address lib, bool isDefault)',
  'function setSendLibrary(address oapp, uint32 eid, address lib)',
  'function setReceiveLibrary(address oapp, uint32 eid, address lib, uint256 gracePeriod)',
  'function setConfig(address oapp, address lib, SetConfigParam[] params)',
])

export const ulnAbi = parseAbi([
  'struct UlnConfig { uint64 confirmations; uint8 requiredDVNCount; uint8 optionalDVNCount; uint8 optionalDVNThreshold; address[] requiredDVNs; address[] optionalDVNs; }',
  'function getAppUlnConfig(address oapp, uint32 eid) view returns (UlnConfig)',
  'function executorConfigs(address oapp, uint32 eid) view returns (uint32 maxMessageSize, address executor)',
])

/** Kinds of `setConfig`. */
export const CONFIG_TYPE = { EXECUTOR: 1, ULN: 2 } as const
/** Count that means none, where 0 means LayerZero's default. */
export const NIL_DVN_COUNT = 255
