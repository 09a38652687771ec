// Generated from contracts/evm/local/LocalEnsRegistry.sol by `npm run contracts`; not to be edited.
export declare const localEnsRegistryAbi: readonly [
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }]; name: "resolver"; outputs: readonly [{ internalType: "address"; name: "resolver"; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }, { internalType: "address"; name: "resolver_"; type: "address" }]; name: "setResolver"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
]
export declare const localEnsRegistryBytecode: `0x${string}`
