// Generated from contracts/evm/local/BidEmitter.sol by `npm run contracts`; not to be edited.
export declare const bidEmitterAbi: readonly [
  { anonymous: false; inputs: readonly [{ indexed: false; internalType: "bytes32"; name: "from"; type: "bytes32" }, { indexed: false; internalType: "uint256"; name: "amount"; type: "uint256" }, { indexed: false; internalType: "bytes32"; name: "name"; type: "bytes32" }]; name: "Bid"; type: "event" },
  { inputs: readonly [{ internalType: "uint256"; name: "start"; type: "uint256" }, { internalType: "uint256"; name: "count"; type: "uint256" }]; name: "emitBids"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly [{ internalType: "uint256"; name: "n"; type: "uint256" }]; name: "nameOf"; outputs: readonly [{ internalType: "bytes32"; name: ""; type: "bytes32" }]; stateMutability: "pure"; type: "function" },
  { inputs: readonly []; name: "recordHash"; outputs: readonly [{ internalType: "bytes32"; name: ""; type: "bytes32" }]; stateMutability: "view"; type: "function" },
]
export declare const bidEmitterBytecode: `0x${string}`
export declare const bidEmitterRuntimeBytecode: `0x${string}`
