import { parseAbi } from 'viem'

/**
 * Subset of LayerZero's EndpointV2 in use, as declared in the MIT-licensed interfaces of
 * `@layerzerolabs/lz-evm-protocol-v2` (ILayerZeroEndpointV2, IMessageLibManager, IMessagingChannel).
 */
export const endpointAbi = parseAbi([
  'struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }',
  'struct MessagingParams { uint32 dstEid; bytes32 receiver; bytes message; bytes options; bool payInLzToken; }',
  'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
  'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)',
  'event PacketVerified(Origin origin, address receiver, bytes32 payloadHash)',
  'event PacketDelivered(Origin origin, address receiver)',
  'function eid() view returns (uint32)',
  'function quote(MessagingParams params, address sender) view returns (MessagingFee)',
  'function verifiable(Origin origin, address receiver) view returns (bool)',
  'function initializable(Origin origin, address receiver) view returns (bool)',
  'function lzReceive(Origin origin, address receiver, bytes32 guid, bytes message, bytes extraData) payable',
  'function inboundPayloadHash(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) view returns (bytes32)',
  'function lazyInboundNonce(address receiver, uint32 srcEid, bytes32 sender) view returns (uint64)',
  'function outboundNonce(address sender, uint32 dstEid, bytes32 receiver) view returns (uint64)',
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
