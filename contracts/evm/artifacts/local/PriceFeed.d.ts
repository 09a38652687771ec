// Generated from contracts/evm/local/PriceFeed.sol by `npm run contracts`; not to be edited.
export declare const priceFeedAbi: readonly [
  { inputs: readonly [{ internalType: "string"; name: "description_"; type: "string" }, { internalType: "uint8"; name: "decimals_"; type: "uint8" }, { internalType: "int256"; name: "answer"; type: "int256" }]; stateMutability: "nonpayable"; type: "constructor" },
  { inputs: readonly []; name: "NoData"; type: "error" },
  { anonymous: false; inputs: readonly [{ indexed: true; internalType: "int256"; name: "current"; type: "int256" }, { indexed: true; internalType: "uint256"; name: "roundId"; type: "uint256" }, { indexed: false; internalType: "uint256"; name: "updatedAt"; type: "uint256" }]; name: "AnswerUpdated"; type: "event" },
  { inputs: readonly []; name: "decimals"; outputs: readonly [{ internalType: "uint8"; name: ""; type: "uint8" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "description"; outputs: readonly [{ internalType: "string"; name: ""; type: "string" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "uint80"; name: "id"; type: "uint80" }]; name: "getRoundData"; outputs: readonly [{ internalType: "uint80"; name: "roundId"; type: "uint80" }, { internalType: "int256"; name: "answer"; type: "int256" }, { internalType: "uint256"; name: "startedAt"; type: "uint256" }, { internalType: "uint256"; name: "updatedAt"; type: "uint256" }, { internalType: "uint80"; name: "answeredInRound"; type: "uint80" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "latestRound"; outputs: readonly [{ internalType: "uint80"; name: ""; type: "uint80" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "latestRoundData"; outputs: readonly [{ internalType: "uint80"; name: "roundId"; type: "uint80" }, { internalType: "int256"; name: "answer"; type: "int256" }, { internalType: "uint256"; name: "startedAt"; type: "uint256" }, { internalType: "uint256"; name: "updatedAt"; type: "uint256" }, { internalType: "uint80"; name: "answeredInRound"; type: "uint80" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "int256"; name: "answer"; type: "int256" }]; name: "setAnswer"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly [{ internalType: "int256"; name: "answer"; type: "int256" }, { internalType: "uint256"; name: "updatedAt"; type: "uint256" }]; name: "setRound"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly []; name: "version"; outputs: readonly [{ internalType: "uint256"; name: ""; type: "uint256" }]; stateMutability: "view"; type: "function" },
]
export declare const priceFeedBytecode: `0x${string}`
