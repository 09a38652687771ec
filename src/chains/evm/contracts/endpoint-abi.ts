import { parseAbi } from 'viem'

/**
 * Subset of LayerZero's EndpointV2 in use, as declared in the MIT-licensed interfaces of
 * `@layerzerolabs/lz-evm-protocol-v2` (ILayerZeroEndpointV2, IMessageLibManager, IMessagingChannel).
 */
export const layerZeroEndpointAbi = parseAbi([
  'struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }',
  'struct MessagingParams { uint32 dstEid; bytes32 receiver; bytes message; bytes options; bool payInLzToken; }',
  'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
  'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)',
  'event PacketDelivered(Origin origin, address receiver)',
  'function eid() view returns (uint32)',
  'function quote(MessagingParams params, address sender) view returns (MessagingFee)',
  'function lzReceive(Origin origin, address receiver, bytes32 guid, bytes message, bytes extraData) payable',
  'function inboundPayloadHash(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) view returns (bytes32)',
  'function lazyInboundNonce(address receiver, uint32 srcEid, bytes32 sender) view returns (uint64)',
  'function delegates(address oapp) view returns (address)',
  'function registerLibrary(address lib)',
  'function defaultSendLibrary(uint32 eid) view returns (address)',
  'function setDefaultSendLibrary(uint32 eid, address lib)',
  'function setDefaultReceiveLibrary(uint32 eid, address lib, uint256 gracePeriod)',
  'error LZ_PayloadHashNotFound(bytes32 expected, bytes32 actual)',
  'error LZ_InvalidNonce(uint64 nonce)',
  'error LZ_PathNotInitializable()',
  'error LZ_PathNotVerifiable()',
  'error LZ_InsufficientFee(uint256 requiredNative, uint256 suppliedNative, uint256 requiredLzToken, uint256 suppliedLzToken)',
])

/**
 * The endpoint's functions by which an application reads and sets its message libraries (IMessageLibManager of
 * `@layerzerolabs/lz-evm-protocol-v2`).
 */
export const layerZeroLibraryManagerAbi = parseAbi([
  'struct SetConfigParam { uint32 eid; uint32 configType; bytes config; }',
  'function getSendLibrary(address sender, uint32 dstEid) view returns (address)',
  'function isDefaultSendLibrary(address sender, uint32 dstEid) view returns (bool)',
  'function getReceiveLibrary(address receiver, uint32 srcEid) view returns (address lib, bool isDefault)',
  'function setSendLibrary(address oapp, uint32 eid, address lib)',
  'function setReceiveLibrary(address oapp, uint32 eid, address lib, uint256 gracePeriod)',
  'function setConfig(address oapp, address lib, SetConfigParam[] params)',
])

/**
 * The functions of LayerZero's message libraries SendUln302 and ReceiveUln302 that we use, declared as in the public
 * interfaces of `@layerzerolabs/lz-evm-messagelib-v2`.
 */
export const layerZeroUlnAbi = parseAbi([
  'struct UlnConfig { uint64 confirmations; uint8 requiredDVNCount; uint8 optionalDVNCount; uint8 optionalDVNThreshold; address[] requiredDVNs; address[] optionalDVNs; }',
  'function getAppUlnConfig(address oapp, uint32 eid) view returns (UlnConfig)',
  'function executorConfigs(address oapp, uint32 eid) view returns (uint32 maxMessageSize, address executor)',
])

/** Values of `configType` in the endpoint's `setConfig`: executor settings, verifier (ULN) settings. */
export const MESSAGE_LIBRARY_CONFIG_TYPE = { EXECUTOR: 1, ULN: 2 } as const
/** Verifier count that means "no verifiers", since 0 means LayerZero's default. */
export const NIL_DVN_COUNT = 255
