// Generated from contracts/evm/test-doubles/TestEnsRegistry.sol by `npm run contracts`; not to be edited.
export declare const testEnsRegistryAbi: readonly [
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }]; name: "resolver"; outputs: readonly [{ internalType: "address"; name: "resolver"; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }, { internalType: "address"; name: "resolver_"; type: "address" }]; name: "setResolver"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
]
export declare const testEnsRegistryBytecode: `0x${string}`
