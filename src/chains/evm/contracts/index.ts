export {
  airdropDistributorAbi,
  airdropDistributorBytecode,
} from '../../../../contracts/evm/artifacts/AirdropDistributor.js'
export {
  communityPaymentsAbi,
  communityPaymentsBytecode,
} from '../../../../contracts/evm/artifacts/CommunityPayments.js'
export {
  ensResolverAbi,
  ensResolverBytecode,
} from '../../../../contracts/evm/artifacts/EnsResolver.js'
export { hubAbi, hubBytecode } from '../../../../contracts/evm/artifacts/Hub.js'
export { localMessageLibAbi } from '../../../../contracts/evm/artifacts/local/LocalMessageLib.js'
export {
  ownersProbeAbi,
  ownersProbeBytecode,
} from '../../../../contracts/evm/artifacts/OwnersProbe.js'
export {
  signatureProbeAbi,
  signatureProbeBytecode,
} from '../../../../contracts/evm/artifacts/SignatureProbe.js'
export { spokeAbi, spokeBytecode } from '../../../../contracts/evm/artifacts/Spoke.js'
export {
  tokenProbeAbi,
  tokenProbeBytecode,
} from '../../../../contracts/evm/artifacts/TokenProbe.js'
export {
  layerZeroEndpointAbi,
  layerZeroLibraryManagerAbi,
  layerZeroUlnAbi,
  MESSAGE_LIBRARY_CONFIG_TYPE,
  NIL_DVN_COUNT,
} from './endpoint-abi.js'
