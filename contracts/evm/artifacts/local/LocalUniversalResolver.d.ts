// Generated from contracts/evm/local/LocalUniversalResolver.sol by `npm run contracts`; not to be edited.
export declare const localUniversalResolverAbi: readonly [
  { inputs: readonly [{ internalType: "contract IEnsResolver"; name: "resolver"; type: "address" }]; stateMutability: "nonpayable"; type: "constructor" },
  { inputs: readonly [{ internalType: "address"; name: "sender"; type: "address" }, { internalType: "string[]"; name: "urls"; type: "string[]" }, { internalType: "bytes"; name: "callData"; type: "bytes" }, { internalType: "bytes4"; name: "callbackFunction"; type: "bytes4" }, { internalType: "bytes"; name: "extraData"; type: "bytes" }]; name: "OffchainLookup"; type: "error" },
  { inputs: readonly [{ internalType: "bytes"; name: "reason"; type: "bytes" }]; name: "argumentsOf"; outputs: readonly [{ internalType: "bytes"; name: ""; type: "bytes" }]; stateMutability: "pure"; type: "function" },
  { inputs: readonly [{ internalType: "bytes"; name: "response"; type: "bytes" }, { internalType: "bytes"; name: "extraData"; type: "bytes" }]; name: "resolveCallback"; outputs: readonly [{ internalType: "bytes"; name: ""; type: "bytes" }, { internalType: "address"; name: ""; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "bytes"; name: "name"; type: "bytes" }, { internalType: "bytes"; name: "data"; type: "bytes" }, { internalType: "string[]"; name: ""; type: "string[]" }]; name: "resolveWithGateways"; outputs: readonly [{ internalType: "bytes"; name: ""; type: "bytes" }, { internalType: "address"; name: ""; type: "address" }]; stateMutability: "view"; type: "function" },
]
export declare const localUniversalResolverBytecode: `0x${string}`
