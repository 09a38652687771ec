// Generated from contracts/evm/test-doubles/TestSmartWallet.sol by `npm run contracts`; not to be edited.
export declare const testSmartWalletAbi: readonly [
  { inputs: readonly [{ internalType: "address"; name: "owner_"; type: "address" }]; stateMutability: "nonpayable"; type: "constructor" },
  { inputs: readonly [{ internalType: "bytes32"; name: "hash"; type: "bytes32" }, { internalType: "bytes"; name: "signature"; type: "bytes" }]; name: "isValidSignature"; outputs: readonly [{ internalType: "bytes4"; name: ""; type: "bytes4" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "mode"; outputs: readonly [{ internalType: "enum TestSmartWallet.Mode"; name: ""; type: "uint8" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "owner"; outputs: readonly [{ internalType: "address"; name: ""; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "enum TestSmartWallet.Mode"; name: "mode_"; type: "uint8" }]; name: "setMode"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
]
export declare const testSmartWalletBytecode: `0x${string}`
