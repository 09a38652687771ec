// Generated from contracts/evm/local/LocalToken.sol by `npm run contracts`; not to be edited.
export declare const localTokenAbi: readonly [
  { inputs: readonly []; stateMutability: "nonpayable"; type: "constructor" },
  { inputs: readonly [{ internalType: "address"; name: "spender"; type: "address" }, { internalType: "uint256"; name: "allowance"; type: "uint256" }, { internalType: "uint256"; name: "needed"; type: "uint256" }]; name: "ERC20InsufficientAllowance"; type: "error" },
  { inputs: readonly [{ internalType: "address"; name: "sender"; type: "address" }, { internalType: "uint256"; name: "balance"; type: "uint256" }, { internalType: "uint256"; name: "needed"; type: "uint256" }]; name: "ERC20InsufficientBalance"; type: "error" },
  { inputs: readonly [{ internalType: "address"; name: "approver"; type: "address" }]; name: "ERC20InvalidApprover"; type: "error" },
  { inputs: readonly [{ internalType: "address"; name: "receiver"; type: "address" }]; name: "ERC20InvalidReceiver"; type: "error" },
  { inputs: readonly [{ internalType: "address"; name: "sender"; type: "address" }]; name: "ERC20InvalidSender"; type: "error" },
  { inputs: readonly [{ internalType: "address"; name: "spender"; type: "address" }]; name: "ERC20InvalidSpender"; type: "error" },
  { anonymous: false; inputs: readonly [{ indexed: true; internalType: "address"; name: "owner"; type: "address" }, { indexed: true; internalType: "address"; name: "spender"; type: "address" }, { indexed: false; internalType: "uint256"; name: "value"; type: "uint256" }]; name: "Approval"; type: "event" },
  { anonymous: false; inputs: readonly [{ indexed: true; internalType: "address"; name: "from"; type: "address" }, { indexed: true; internalType: "address"; name: "to"; type: "address" }, { indexed: false; internalType: "uint256"; name: "value"; type: "uint256" }]; name: "Transfer"; type: "event" },
  { inputs: readonly [{ internalType: "address"; name: "owner"; type: "address" }, { internalType: "address"; name: "spender"; type: "address" }]; name: "allowance"; outputs: readonly [{ internalType: "uint256"; name: ""; type: "uint256" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "spender"; type: "address" }, { internalType: "uint256"; name: "value"; type: "uint256" }]; name: "approve"; outputs: readonly [{ internalType: "bool"; name: ""; type: "bool" }]; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "account"; type: "address" }]; name: "balanceOf"; outputs: readonly [{ internalType: "uint256"; name: ""; type: "uint256" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "decimals"; outputs: readonly [{ internalType: "uint8"; name: ""; type: "uint8" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "to"; type: "address" }, { internalType: "uint256"; name: "amount"; type: "uint256" }]; name: "mint"; outputs: readonly []; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly []; name: "name"; outputs: readonly [{ internalType: "string"; name: ""; type: "string" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "symbol"; outputs: readonly [{ internalType: "string"; name: ""; type: "string" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly []; name: "totalSupply"; outputs: readonly [{ internalType: "uint256"; name: ""; type: "uint256" }]; stateMutability: "view"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "to"; type: "address" }, { internalType: "uint256"; name: "value"; type: "uint256" }]; name: "transfer"; outputs: readonly [{ internalType: "bool"; name: ""; type: "bool" }]; stateMutability: "nonpayable"; type: "function" },
  { inputs: readonly [{ internalType: "address"; name: "from"; type: "address" }, { internalType: "address"; name: "to"; type: "address" }, { internalType: "uint256"; name: "value"; type: "uint256" }]; name: "transferFrom"; outputs: readonly [{ internalType: "bool"; name: ""; type: "bool" }]; stateMutability: "nonpayable"; type: "function" },
]
export declare const localTokenBytecode: `0x${string}`
