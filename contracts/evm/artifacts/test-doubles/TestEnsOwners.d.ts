// Generated from contracts/evm/test-doubles/TestEnsOwners.sol by `npm run contracts`; not to be edited.
export declare const testEnsOwnersAbi: readonly [
  { inputs: readonly []; name: "NotOwner"; type: "error" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }]; name: "owner"; outputs: readonly [{ internalType: "address"; name: "owner"; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }]; name: "resolver"; outputs: readonly [{ internalType: "address"; name: "resolver"; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }, { internalType: "address"; name: "owner_"; type: "address" }]; name: "setOwner"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }, { internalType: "address"; name: "resolver_"; type: "address" }]; name: "setResolver"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
]
export declare const testEnsOwnersBytecode: `0x${string}`
