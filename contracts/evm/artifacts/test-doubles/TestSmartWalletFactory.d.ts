// Generated from contracts/evm/test-doubles/TestSmartWalletFactory.sol by `npm run contracts`; not to be edited.
export declare const testSmartWalletFactoryAbi: readonly [
  { inputs: readonly [{ internalType: "address"; name: "owner"; type: "address" }]; name: "addressOf"; outputs: readonly [{ internalType: "address"; name: ""; type: "address" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "owner"; type: "address" }]; name: "deploy"; outputs: readonly [{ internalType: "address"; name: ""; type: "address" }]; stateMutability: "nonpayable"; type: "function" },
]
export declare const testSmartWalletFactoryBytecode: `0x${string}`
