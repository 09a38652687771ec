// Generated from contracts/evm/test-doubles/TestNames.sol by `npm run contracts`; not to be edited.
export declare const testNamesAbi: readonly [
  { inputs: readonly [{ internalType: "bytes32[]"; name: "words"; type: "bytes32[]" }]; name: "judge"; outputs: readonly [{ internalType: "bytes"; name: "answers"; type: "bytes" }]; stateMutability: "pure"; type: "function" },
]
export declare const testNamesBytecode: `0x${string}`
