// Generated from contracts/evm/src/SignatureProbe.sol by `npm run contracts`; not to be edited.
export declare const signatureProbeAbi: readonly [
  { inputs: readonly [{ internalType: "address"; name: "wallet"; type: "address" }, { internalType: "bytes"; name: "question"; type: "bytes" }, { internalType: "address"; name: "factory"; type: "address" }, { internalType: "bytes"; name: "prepare"; type: "bytes" }]; stateMutability: "nonpayable"; type: "constructor" },
]
export declare const signatureProbeBytecode: `0x${string}`
