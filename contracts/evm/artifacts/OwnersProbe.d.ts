// Generated from contracts/evm/src/OwnersProbe.sol by `npm run contracts`; not to be edited.
export declare const ownersProbeAbi: readonly [
  { inputs: readonly [{ internalType: "contract IHub"; name: "hub"; type: "address" }, { internalType: "bytes32[]"; name: "names"; type: "bytes32[]" }]; stateMutability: "nonpayable"; type: "constructor" },
]
export declare const ownersProbeBytecode: `0x${string}`
