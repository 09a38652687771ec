// Generated from contracts/evm/src/TokenProbe.sol by `npm run contracts`; not to be edited.
export declare const tokenProbeAbi: readonly [
  { inputs: readonly [{ internalType: "address"; name: "token"; type: "address" }, { internalType: "bytes"; name: "question"; type: "bytes" }]; stateMutability: "nonpayable"; type: "constructor" },
]
export declare const tokenProbeBytecode: `0x${string}`
