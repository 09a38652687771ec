// Generated from contracts/evm/src/CommunityPayments.sol by `npm run contracts`; not to be edited.

export const communityPaymentsAbi = [
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner_",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "relayer_",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "pauser_",
        "type": "address"
      },
      {
        "internalType": "uint64",
        "name": "holdSeconds_",
        "type": "uint64"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [],
    "name": "EnforcedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ExpectedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "FailedCall",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "heldUntil",
        "type": "uint64"
      }
    ],
    "name": "HoldOver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "holdSeconds",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "most",
        "type": "uint64"
      }
    ],
    "name": "HoldTooLong",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "balance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "name",
        "type": "bytes32"
      }
    ],
    "name": "MalformedName",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      }
    ],
    "name": "NameTaken",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "NoPayment",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      }
    ],
    "name": "NotHeld",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "caller",
        "type": "address"
      }
    ],
    "name": "NotPauser",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "caller",
        "type": "address"
      }
    ],
    "name": "NotRelayer",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "NothingOwed",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "OwnableInvalidOwner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "OwnableUnauthorizedAccount",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "OwnerRequired",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ReentrancyGuardReentrantCall",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SafeERC20FailedOperation",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "heldUntil",
        "type": "uint64"
      }
    ],
    "name": "StillHeld",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "moved",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "WrongTransfer",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "expected",
        "type": "uint256"
      }
    ],
    "name": "WrongValue",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAddress",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAmount",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "from",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "tokenChainId",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "token",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "paymentRecipient",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "communityName",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "walletName",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "referralAddress",
        "type": "bytes32"
      }
    ],
    "name": "Bid",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "heldUntil",
        "type": "uint64"
      }
    ],
    "name": "Held",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "holdSeconds",
        "type": "uint64"
      }
    ],
    "name": "HoldSet",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferStarted",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferred",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Paused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "pauser",
        "type": "address"
      }
    ],
    "name": "PauserSet",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "payer",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "token",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "Refused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "relayer",
        "type": "address"
      }
    ],
    "name": "RelayerSet",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "token",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "Released",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "communityName",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "walletName",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      }
    ],
    "name": "Reopened",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Unpaused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "token",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "Withdrawn",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "MAX_HOLD_SECONDS",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "acceptOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "creditOf",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "credited",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "held",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "holdSeconds",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "paused",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pauser",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "communityName",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "walletName",
        "type": "bytes32"
      }
    ],
    "name": "paymentOf",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      }
    ],
    "name": "payments",
    "outputs": [
      {
        "internalType": "address",
        "name": "payer",
        "type": "address"
      },
      {
        "internalType": "uint64",
        "name": "heldUntil",
        "type": "uint64"
      },
      {
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "nameKey",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pendingOwner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "token",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "amount",
            "type": "uint256"
          },
          {
            "internalType": "address",
            "name": "paymentRecipient",
            "type": "address"
          },
          {
            "internalType": "bytes32",
            "name": "communityName",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "walletName",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "referralAddress",
            "type": "bytes32"
          }
        ],
        "internalType": "struct ICommunityPayments.BidRequest",
        "name": "bid",
        "type": "tuple"
      }
    ],
    "name": "placeBid",
    "outputs": [],
    "stateMutability": "payable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "paymentId",
        "type": "bytes32"
      }
    ],
    "name": "refuse",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "relayer",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32[]",
        "name": "paymentIds",
        "type": "bytes32[]"
      }
    ],
    "name": "release",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32[]",
        "name": "paymentIds",
        "type": "bytes32[]"
      },
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      }
    ],
    "name": "releaseAndWithdraw",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "communityName",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "walletName",
        "type": "bytes32"
      }
    ],
    "name": "reopen",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "holdSeconds_",
        "type": "uint64"
      }
    ],
    "name": "setHold",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "pauser_",
        "type": "address"
      }
    ],
    "name": "setPauser",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "relayer_",
        "type": "address"
      }
    ],
    "name": "setRelayer",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "transferOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "unpause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      }
    ],
    "name": "withdraw",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

export const communityPaymentsBytecode =
  '0x608060405234801561000f575f5ffd5b5060405161252338038061252383398101604081905261002e9161027a565b81846001600160a01b03811661005e57604051631e4fbdf760e01b81525f60048201526024015b60405180910390fd5b610067816100b1565b50610071816100cd565b5060017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005561009f83610122565b6100a881610181565b505050506102d9565b600180546001600160a01b03191690556100ca81610210565b50565b600280546001600160a01b0319166001600160a01b0383169081179091556040519081527fd11d57c2c7468878b1035df11c670bcd0091aa840bf8aa166365397622237bea906020015b60405180910390a150565b60098054600160401b600160e01b031916680100000000000000006001600160a01b038416908102919091179091556040519081527fb7041340e0c2a075059bf0488a71c767724be15dae8e737f8460007325e8d85790602001610117565b62093a806001600160401b03821611156101c25760405163b397115360e01b81526001600160401b038216600482015262093a806024820152604401610055565b600980546001600160401b0319166001600160401b0383169081179091556040519081527f1337bea803ef7e979405ece4746b497e6f658e816e77166d71a904b31e1218c290602001610117565b5f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b80516001600160a01b0381168114610275575f5ffd5b919050565b5f5f5f5f6080858703121561028d575f5ffd5b6102968561025f565b93506102a46020860161025f565b92506102b26040860161025f565b60608601519092506001600160401b03811681146102ce575f5ffd5b939692955090935050565b61223d806102e65f395ff3fe608060405260043610610199575f3560e01c80638406c079116100dc578063b826a2d811610087578063f2fde38b11610062578063f2fde38b14610538578063f940e38514610557578063fdf60ec714610576578063fece8ac7146105a1575f5ffd5b8063b826a2d8146104dd578063e30c3978146104fc578063e311379814610519575f5ffd5b806399bb2388116100b757806399bb23881461047f5780639fd0506d1461049f578063abed3b27146104be575f5ffd5b80638406c0791461040c5780638456cb591461044f5780638da5cb5b14610463575f5ffd5b806332f750ff11610147578063612dd6e811610122578063612dd6e8146103a65780636548e9bc146103c5578063715018a6146103e457806379ba5097146103f8575f5ffd5b806332f750ff1461032d5780633f4ba83a146103585780635c975abb1461036c575f5ffd5b806322fafb7f1161017757806322fafb7f146102cc5780632d88af4a146102fb57806332ad66ab1461031a575f5ffd5b8063035ec5841461019d5780630716326d146101e6578063181c6148146102ab575b5f5ffd5b3480156101a8575f5ffd5b506101d36101b7366004611f03565b600460209081525f928352604080842090915290825290205481565b6040519081526020015b60405180910390f35b3480156101f1575f5ffd5b50610260610200366004611f34565b600360208190525f9182526040909120805460018201546002830154938301546004909301546001600160a01b03808416957401000000000000000000000000000000000000000090940467ffffffffffffffff16949281169316919086565b604080516001600160a01b03978816815267ffffffffffffffff90961660208701529386169385019390935293166060830152608082019290925260a081019190915260c0016101dd565b3480156102b6575f5ffd5b506102ca6102c5366004611f4b565b6105c0565b005b3480156102d7575f5ffd5b506102e262093a8081565b60405167ffffffffffffffff90911681526020016101dd565b348015610306575f5ffd5b506102ca610315366004611f6b565b61070b565b6102ca610328366004611f8b565b61071f565b348015610338575f5ffd5b506101d3610347366004611f6b565b60056020525f908152604090205481565b348015610363575f5ffd5b506102ca610bb6565b348015610377575f5ffd5b5060015474010000000000000000000000000000000000000000900460ff1660405190151581526020016101dd565b3480156103b1575f5ffd5b506102ca6103c0366004611fa4565b610bc8565b3480156103d0575f5ffd5b506102ca6103df366004611f6b565b610bd9565b3480156103ef575f5ffd5b506102ca610bea565b348015610403575f5ffd5b506102ca610c24565b348015610417575f5ffd5b50600954610437906801000000000000000090046001600160a01b031681565b6040516001600160a01b0390911681526020016101dd565b34801561045a575f5ffd5b506102ca610c7e565b34801561046e575f5ffd5b505f546001600160a01b0316610437565b34801561048a575f5ffd5b506009546102e29067ffffffffffffffff1681565b3480156104aa575f5ffd5b50600254610437906001600160a01b031681565b3480156104c9575f5ffd5b506102ca6104d8366004612013565b610ce4565b3480156104e8575f5ffd5b506102ca6104f7366004612052565b610d23565b348015610507575f5ffd5b506001546001600160a01b0316610437565b348015610524575f5ffd5b506102ca610533366004611f34565b610d6e565b348015610543575f5ffd5b506102ca610552366004611f6b565b610ee0565b348015610562575f5ffd5b506102ca610571366004611f03565b610f68565b348015610581575f5ffd5b506101d3610590366004611f6b565b60066020525f908152604090205481565b3480156105ac575f5ffd5b506101d36105bb366004611f4b565b610f7a565b6105c8610fb7565b604080516020808201859052818301849052825180830384018152606090920183528151918101919091205f81815260079092529190205480610637576040517fbd1fa9d300000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f8181526003602052604090205474010000000000000000000000000000000000000000900467ffffffffffffffff16428111156106b2576040517fea7b765b00000000000000000000000000000000000000000000000000000000815267ffffffffffffffff821660048201526024015b60405180910390fd5b5f8381526007602090815260408083209290925581518781529081018690529081018390527f58f6f3077d8e6fc9a97c6f63d1c92bcb98c255bdef500916c054780d8b04da4f9060600160405180910390a15050505050565b610713610fb7565b61071c81610ffc565b50565b610727611069565b61072f611097565b61073c81606001356110ec565b610778576040517f5df7a9bb000000000000000000000000000000000000000000000000000000008152606082013560048201526024016106a9565b61078581608001356110ec565b6107c1576040517f5df7a9bb000000000000000000000000000000000000000000000000000000008152608082013560048201526024016106a9565b5f6107d26060830160408401611f6b565b6001600160a01b031603610812576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b80602001355f0361084f576040517f1f2a200500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b604080516060838101356020808401919091526080850135838501528351808403850181529190920183528051908201205f818152600790925291902054156108d7575f81815260076020526040908190205490517fd66f4bcf00000000000000000000000000000000000000000000000000000000815260048101919091526024016106a9565b6009545f906108f09067ffffffffffffffff16426120e0565b90505f6108fc8461113c565b5f84815260076020908152604091829020839055815160c08101835233815267ffffffffffffffff861691810191909152919250818101906109449060608801908801611f6b565b6001600160a01b0316815260209081019061096190870187611f6b565b6001600160a01b039081168252602087810180358285015260409384018890525f868152600380845290859020865181549488015167ffffffffffffffff1674010000000000000000000000000000000000000000027fffffffff0000000000000000000000000000000000000000000000000000000090951690861617939093178355938501516001830180549185167fffffffffffffffffffffffff000000000000000000000000000000000000000092831617905560608601516002840180549190951691161790925560808401519281019290925560a090920151600490910155610a5e90610a549086611f6b565b8560200135611187565b602084018035906005905f90610a749088611f6b565b6001600160a01b03166001600160a01b031681526020019081526020015f205f828254610aa19190612100565b909155507f8e29d05cb954ce4d0768b8c6d1234755218c7230b9531260a07f9ae421606c4290503346610ad76020880188611f6b565b6020880135610aec60608a0160408b01611f6b565b6040805195865260208601949094526001600160a01b03928316858501526060808601929092529091166080808501919091529088013560a0808501919091529088013560c084015287013560e083015251908190036101000190a16040805182815267ffffffffffffffff841660208201527f266398209f8b5b25c5fc31a54f65a2b9932505e320f4c9b25cfb96d84738af28910160405180910390a150505061071c60017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f0055565b610bbe610fb7565b610bc6611319565b565b610bd0610fb7565b61071c81611389565b610be1610fb7565b61071c8161144c565b610bf2610fb7565b6040517f3c776be100000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60015433906001600160a01b03168114610c75576040517f118cdaa70000000000000000000000000000000000000000000000000000000081526001600160a01b03821660048201526024016106a9565b61071c816114c0565b6002546001600160a01b03163314801590610ca357505f546001600160a01b03163314155b15610cdc576040517f206a346e0000000000000000000000000000000000000000000000000000000081523360048201526024016106a9565b610bc66114f1565b610cec611069565b610cf68282611560565b610d1f60017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f0055565b5050565b610d2b611069565b610d358484611560565b610d3f828261168e565b610d6860017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f0055565b50505050565b610d76611069565b6009546801000000000000000090046001600160a01b03163314610dc8576040517f366b2e5a0000000000000000000000000000000000000000000000000000000081523360048201526024016106a9565b5f610dd2826117c7565b9050806020015167ffffffffffffffff164210610e2d5760208101516040517f3f3fea6300000000000000000000000000000000000000000000000000000000815267ffffffffffffffff90911660048201526024016106a9565b60a08101515f90815260076020526040812055805160608201516080830151610e5792919061196c565b8051606080830151608080850151604080518881526001600160a01b0396871660208201529590931692850192909252918301527f43f1e2a8c3037ac2153c4750581ea82759cee3daf0e471f6fccd77c793a96da6910160405180910390a15061071c60017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f0055565b610ee8610fb7565b600180546001600160a01b0383167fffffffffffffffffffffffff00000000000000000000000000000000000000009091168117909155610f305f546001600160a01b031690565b6001600160a01b03167f38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e2270060405160405180910390a350565b610f70611069565b610cf6828261168e565b604080516020808201859052818301849052825180830384018152606090920183528151918101919091205f908152600790915220545b92915050565b5f546001600160a01b03163314610bc6576040517f118cdaa70000000000000000000000000000000000000000000000000000000081523360048201526024016106a9565b600280547fffffffffffffffffffffffff0000000000000000000000000000000000000000166001600160a01b0383169081179091556040519081527fd11d57c2c7468878b1035df11c670bcd0091aa840bf8aa166365397622237bea906020015b60405180910390a150565b6110716119d8565b60027f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f0055565b60015474010000000000000000000000000000000000000000900460ff1615610bc6576040517fd93c066500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f818082036110fd57505f92915050565b8015611133576f07fffffe8000000003ff20000000000060f882901c1c6001165f0361112b57505f92915050565b60081b6110fd565b50600192915050565b5f60085f815461114b90612113565b918290555060405161116a91904690309033904290889060200161214a565b604051602081830303815290604052805190602001209050919050565b5f6001600160a01b0383161561119d575f61119f565b815b90508034146111e3576040517f195a3ca1000000000000000000000000000000000000000000000000000000008152346004820152602481018290526044016106a9565b6001600160a01b0383166111f657505050565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f906001600160a01b038516906370a0823190602401602060405180830381865afa158015611253573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061127791906121e6565b905061128e6001600160a01b038516333086611a33565b6040517f70a08231000000000000000000000000000000000000000000000000000000008152306004820152610d689082906001600160a01b038716906370a0823190602401602060405180830381865afa1580156112ef573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061131391906121e6565b85611a82565b611321611ae0565b600180547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff1690557f5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa335b6040516001600160a01b03909116815260200160405180910390a1565b62093a8067ffffffffffffffff821611156113e5576040517fb397115300000000000000000000000000000000000000000000000000000000815267ffffffffffffffff8216600482015262093a8060248201526044016106a9565b600980547fffffffffffffffffffffffffffffffffffffffffffffffff00000000000000001667ffffffffffffffff83169081179091556040519081527f1337bea803ef7e979405ece4746b497e6f658e816e77166d71a904b31e1218c29060200161105e565b600980547fffffffff0000000000000000000000000000000000000000ffffffffffffffff16680100000000000000006001600160a01b038416908102919091179091556040519081527fb7041340e0c2a075059bf0488a71c767724be15dae8e737f8460007325e8d8579060200161105e565b600180547fffffffffffffffffffffffff000000000000000000000000000000000000000016905561071c81611b34565b6114f9611097565b600180547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff16740100000000000000000000000000000000000000001790557f62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a25861136c3390565b5f5b81811015611689575f61158c848484818110611580576115806121fd565b905060200201356117c7565b9050806020015167ffffffffffffffff164210156115e85760208101516040517fea7b765b00000000000000000000000000000000000000000000000000000000815267ffffffffffffffff90911660048201526024016106a9565b6115ff81604001518260600151836080015161196c565b7ff841af1340fe1d6814e6ec7893c8cc8939c12ee8d084afe073c5b10dc8fc794c848484818110611632576116326121fd565b9050602002013582604001518360600151846080015160405161167894939291909384526001600160a01b03928316602085015291166040830152606082015260800190565b60405180910390a150600101611562565b505050565b6001600160a01b0381166116ce576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b335f9081526004602090815260408083206001600160a01b03861684529091528120549081900361172b576040517f797dba5400000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b335f9081526004602090815260408083206001600160a01b0387168452825280832083905560069091528120805483929061176790849061222a565b9091555050604080513381526001600160a01b0385811660208301528416818301526060810183905290517fa4195c37c2947bbe89165f03e320b6903116f0b10d8cfdb522330f7ce6f9fa249181900360800190a1611689838383611b9b565b6040805160c0810182525f80825260208201819052918101829052606081018290526080810182905260a0810191909152505f818152600360208181526040808420815160c08101835281546001600160a01b0380821683527401000000000000000000000000000000000000000090910467ffffffffffffffff1694820194909452600182015484169281019290925260028101549092166060820152918101546080830181905260049091015460a08301529091036118b7576040517f1d90490f000000000000000000000000000000000000000000000000000000008152600481018390526024016106a9565b5f82815260036020818152604080842080547fffffffff000000000000000000000000000000000000000000000000000000001681556001810180547fffffffffffffffffffffffff000000000000000000000000000000000000000090811690915560028201805490911690559283018490556004909201839055608084015160608501516001600160a01b03168452600590915290822080549192909161196190849061222a565b909155509092915050565b6001600160a01b038084165f908152600460209081526040808320938616835292905290812080548392906119a2908490612100565b90915550506001600160a01b0382165f90815260066020526040812080548392906119ce908490612100565b9091555050505050565b7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f0054600203610bc6576040517f3ee5aeb500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b611a41848484846001611cd4565b610d68576040517f5274afe70000000000000000000000000000000000000000000000000000000081526001600160a01b03851660048201526024016106a9565b5f838310611a9957611a94848461222a565b611a9b565b5f5b9050818114610d68576040517f7af0428900000000000000000000000000000000000000000000000000000000815260048101829052602481018390526044016106a9565b60015474010000000000000000000000000000000000000000900460ff16610bc6576040517f8dfc202b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f80546001600160a01b038381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b6001600160a01b038316611bb3576116898282611d5a565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f906001600160a01b038516906370a0823190602401602060405180830381865afa158015611c10573d5f5f3e3d5ffd5b505050506040513d601f19601f82011682018060405250810190611c3491906121e6565b9050611c4a6001600160a01b0385168484611dff565b6040517f70a08231000000000000000000000000000000000000000000000000000000008152306004820152610d68906001600160a01b038616906370a0823190602401602060405180830381865afa158015611ca9573d5f5f3e3d5ffd5b505050506040513d601f19601f82011682018060405250810190611ccd91906121e6565b8284611a82565b6040517f23b872dd000000000000000000000000000000000000000000000000000000005f8181526001600160a01b038781166004528616602452604485905291602083606481808c5af1925060015f51148316611d49578383151615611d3d573d5f823e3d81fd5b5f883b113d1516831692505b604052505f60605295945050505050565b80471015611d9d576040517fcf479181000000000000000000000000000000000000000000000000000000008152476004820152602481018290526044016106a9565b611db6828260405180602001604052805f815250611e4d565b15611dbf575050565b3d15611dcd57610d1f611e62565b6040517fd6bda27500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b611e0c8383836001611e6d565b611689576040517f5274afe70000000000000000000000000000000000000000000000000000000081526001600160a01b03841660048201526024016106a9565b5f5f5f83516020850186885af1949350505050565b6040513d5f823e3d81fd5b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f8181526001600160a01b038616600452602485905291602083604481808b5af1925060015f51148316611edc578383151615611ed0573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b80356001600160a01b0381168114611efe575f5ffd5b919050565b5f5f60408385031215611f14575f5ffd5b611f1d83611ee8565b9150611f2b60208401611ee8565b90509250929050565b5f60208284031215611f44575f5ffd5b5035919050565b5f5f60408385031215611f5c575f5ffd5b50508035926020909101359150565b5f60208284031215611f7b575f5ffd5b611f8482611ee8565b9392505050565b5f60c0828403128015611f9c575f5ffd5b509092915050565b5f60208284031215611fb4575f5ffd5b813567ffffffffffffffff81168114611f84575f5ffd5b5f5f83601f840112611fdb575f5ffd5b50813567ffffffffffffffff811115611ff2575f5ffd5b6020830191508360208260051b850101111561200c575f5ffd5b9250929050565b5f5f60208385031215612024575f5ffd5b823567ffffffffffffffff81111561203a575f5ffd5b61204685828601611fcb565b90969095509350505050565b5f5f5f5f60608587031215612065575f5ffd5b843567ffffffffffffffff81111561207b575f5ffd5b61208787828801611fcb565b909550935061209a905060208601611ee8565b91506120a860408601611ee8565b905092959194509250565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b67ffffffffffffffff8181168382160190811115610fb157610fb16120b3565b80820180821115610fb157610fb16120b3565b5f7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff8203612143576121436120b3565b5060010190565b5f610160820190508782528660208301526001600160a01b03861660408301526001600160a01b03851660608301528360808301526001600160a01b0361219084611ee8565b1660a0830152602083013560c08301526001600160a01b036121b460408501611ee8565b1660e08301526060830135610100830152608083013561012083015260a0909201356101409091015295945050505050565b5f602082840312156121f6575f5ffd5b5051919050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b81810381811115610fb157610fb16120b356' as const
