// Generated from contracts/evm/test-doubles/TestNameWrapper.sol by `npm run contracts`; not to be edited.
export declare const testNameWrapperAbi: readonly [
  { inputs: readonly [{ internalType: "contract TestEnsOwners"; name: "registry"; type: "address" }]; stateMutability: "nonpayable"; type: "constructor" },
  { inputs: readonly []; name: "NotOwner"; type: "error" },
  { inputs: readonly [{ internalType: "uint256"; name: "node"; type: "uint256" }]; name: "ownerOf"; outputs: readonly [{ internalType: "address"; name: "owner"; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }, { internalType: "address"; name: "resolver"; type: "address" }]; name: "setResolver"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly [{ internalType: "bytes32"; name: "node"; type: "bytes32" }, { internalType: "address"; name: "owner"; type: "address" }]; name: "wrap"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
]
export declare const testNameWrapperBytecode: `0x${string}`
