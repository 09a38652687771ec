// Generated from contracts/evm/test-doubles/TestWallet.sol by `npm run contracts`; not to be edited.
export declare const testWalletAbi: readonly [
  { inputs: readonly []; name: "calledBack"; outputs: readonly [{ internalType: "bool"; name: ""; type: "bool" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "data"; outputs: readonly [{ internalType: "bytes"; name: ""; type: "bytes" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "to"; type: "address" }, { internalType: "bytes"; name: "callData"; type: "bytes" }]; name: "execute"; outputs: readonly [{ internalType: "bytes"; name: ""; type: "bytes" }]; stateMutability: "payable"; type: "function" },
  { inputs: readonly []; name: "mode"; outputs: readonly [{ internalType: "enum TestWallet.Mode"; name: ""; type: "uint8" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "target_"; type: "address" }, { internalType: "bytes"; name: "data_"; type: "bytes" }]; name: "setCallBack"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly [{ internalType: "enum TestWallet.Mode"; name: "mode_"; type: "uint8" }]; name: "setMode"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly []; name: "target"; outputs: readonly [{ internalType: "address"; name: ""; type: "address" }]; stateMutability: "view"; type: "function" },
  { stateMutability: "payable"; type: "receive" },
]
export declare const testWalletBytecode: `0x${string}`
