// Generated from contracts/evm/src/AirdropDistributor.sol by `npm run contracts`; not to be edited.

export const airdropDistributorAbi = [
  {
    "inputs": [
      {
        "internalType": "contract IERC20",
        "name": "token_",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "merkleRoot_",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "endsAt_",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "owner_",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "operator_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "index",
        "type": "uint256"
      }
    ],
    "name": "AlreadyClaimed",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "BadPermission",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "BadProof",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "endsAt",
        "type": "uint256"
      }
    ],
    "name": "Ended",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "endsAt",
        "type": "uint256"
      }
    ],
    "name": "NotEnded",
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
    "inputs": [
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "PermissionExpired",
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
        "internalType": "bytes32",
        "name": "account",
        "type": "bytes32"
      }
    ],
    "name": "WrongAccountType",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAddress",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "index",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "account",
        "type": "bytes32"
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
        "name": "to",
        "type": "address"
      }
    ],
    "name": "Claimed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "operator",
        "type": "address"
      }
    ],
    "name": "OperatorSet",
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
    "name": "Swept",
    "type": "event"
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
        "internalType": "uint256",
        "name": "index",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "account",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "bytes32[]",
        "name": "proof",
        "type": "bytes32[]"
      }
    ],
    "name": "claim",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "index",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "account",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "bytes32[]",
        "name": "proof",
        "type": "bytes32[]"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "claimFor",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "endsAt",
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
        "internalType": "uint256",
        "name": "index",
        "type": "uint256"
      }
    ],
    "name": "isClaimed",
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
    "name": "merkleRoot",
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
    "inputs": [],
    "name": "operator",
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
    "inputs": [],
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "operator_",
        "type": "address"
      }
    ],
    "name": "setOperator",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      }
    ],
    "name": "sweep",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "token",
    "outputs": [
      {
        "internalType": "contract IERC20",
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
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "transferOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

export const airdropDistributorBytecode =
  '0x60e060405234801561000f575f5ffd5b506040516114c03803806114c083398101604081905261002e916101ae565b816001600160a01b03811661005d57604051631e4fbdf760e01b81525f60048201526024015b60405180910390fd5b610066816100db565b5042831161008a576040516330084ab360e11b815260048101849052602401610054565b6001600160a01b0385166100b15760405163d92e233d60e01b815260040160405180910390fd5b6001600160a01b03851660805260a084905260c08390526100d1816100f7565b505050505061020c565b600180546001600160a01b03191690556100f48161014b565b50565b600280546001600160a01b0319166001600160a01b0383169081179091556040519081527f99d737e0adf2c449d71890b86772885ec7959b152ddb265f76325b6e68e105d39060200160405180910390a150565b5f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b6001600160a01b03811681146100f4575f5ffd5b5f5f5f5f5f60a086880312156101c2575f5ffd5b85516101cd8161019a565b80955050602086015193506040860151925060608601516101ed8161019a565b60808701519092506101fe8161019a565b809150509295509295909350565b60805160a05160c05161125261026e5f395f8181610103015281816102ad015281816102fb01528181610aa10152610aee01525f818161013d0152610c3301525f8181610281015281816103a9015281816104930152610d2301526112525ff3fe608060405234801561000f575f5ffd5b50600436106100e5575f3560e01c80639e34070f11610088578063d640542011610063578063d640542014610238578063e30c39781461024b578063f2fde38b14610269578063fc0c546a1461027c575f5ffd5b80639e34070f146101d1578063b3ab15fb14610212578063d1df9c7214610225575f5ffd5b8063570ca735116100c3578063570ca7351461015f578063715018a6146101a457806379ba5097146101ac5780638da5cb5b146101b4575f5ffd5b806301681a62146100e95780630a09284a146100fe5780632eb4a7ab14610138575b5f5ffd5b6100fc6100f736600461103a565b6102a3565b005b6101257f000000000000000000000000000000000000000000000000000000000000000081565b6040519081526020015b60405180910390f35b6101257f000000000000000000000000000000000000000000000000000000000000000081565b60025461017f9073ffffffffffffffffffffffffffffffffffffffff1681565b60405173ffffffffffffffffffffffffffffffffffffffff909116815260200161012f565b6100fc6104be565b6100fc6104f8565b5f5473ffffffffffffffffffffffffffffffffffffffff1661017f565b6102026101df366004611053565b600881901c5f90815260036020526040812054600160ff84161b16151592915050565b604051901515815260200161012f565b6100fc61022036600461103a565b61056f565b6100fc6102333660046110b2565b610580565b6100fc61024636600461110e565b6105d9565b60015473ffffffffffffffffffffffffffffffffffffffff1661017f565b6100fc61027736600461103a565b610892565b61017f7f000000000000000000000000000000000000000000000000000000000000000081565b6102ab610941565b7f000000000000000000000000000000000000000000000000000000000000000042101561032c576040517f59bf618c0000000000000000000000000000000000000000000000000000000081527f000000000000000000000000000000000000000000000000000000000000000060048201526024015b60405180910390fd5b73ffffffffffffffffffffffffffffffffffffffff8116610379576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f907f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff16906370a0823190602401602060405180830381865afa158015610403573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061042791906111e1565b6040805173ffffffffffffffffffffffffffffffffffffffff85168152602081018390529192507fc36b5179cb9c303b200074996eab2b3473eac370fdd7eba3bec636fe35109696910160405180910390a16104ba73ffffffffffffffffffffffffffffffffffffffff7f0000000000000000000000000000000000000000000000000000000000000000168383610995565b5050565b6104c6610941565b6040517f3c776be100000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600154339073ffffffffffffffffffffffffffffffffffffffff168114610563576040517f118cdaa700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff82166004820152602401610323565b61056c816109f5565b50565b610577610941565b61056c81610a26565b61058b8460a01c1590565b6105c4576040517f25d3740300000000000000000000000000000000000000000000000000000000815260048101859052602401610323565b6105d2858585858583610a9f565b5050505050565b6105e48860a01c1590565b1561061e576040517f25d3740300000000000000000000000000000000000000000000000000000000815260048101899052602401610323565b8242111561065b576040517f383684fc00000000000000000000000000000000000000000000000000000000815260048101849052602401610323565b604080517f2a68898e4a1da8c28cbdc491323416533a6f9dc50b9ee7f2c9e16d580256f3296020808301919091528183018c9052606082018b905273ffffffffffffffffffffffffffffffffffffffff8716608083015260a08083018790528351808403909101815260c0830184528051908201207f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60e08401527fd9f7f887b564a2a48fc3c79c0f197d8ba010a261d06c27e8995428ac33011ee96101008401527fc89efdaa54c0f20c7adf612882df0950f5a951637e0307cdcb4c672f298b8bc661012084015246610140840152306101608085019190915284518085039091018152610180840185528051908301207f19010000000000000000000000000000000000000000000000000000000000006101a08501526101a28401526101c2808401829052845180850390910181526101e290930190935281519101205f9081906107fe9086868080601f0160208091040260200160405190810160405280939291908181526020018383808284375f92019190915250610d5392505050565b5090925090505f816003811115610817576108176111f8565b14158061083f575060025473ffffffffffffffffffffffffffffffffffffffff838116911614155b15610876576040517f8e0eff1900000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6108848c8c8c8c8c8c610a9f565b505050505050505050505050565b61089a610941565b6001805473ffffffffffffffffffffffffffffffffffffffff83167fffffffffffffffffffffffff000000000000000000000000000000000000000090911681179091556108fc5f5473ffffffffffffffffffffffffffffffffffffffff1690565b73ffffffffffffffffffffffffffffffffffffffff167f38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e2270060405160405180910390a350565b5f5473ffffffffffffffffffffffffffffffffffffffff163314610993576040517f118cdaa7000000000000000000000000000000000000000000000000000000008152336004820152602401610323565b565b6109a28383836001610d9c565b6109f0576040517f5274afe700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff84166004820152602401610323565b505050565b600180547fffffffffffffffffffffffff000000000000000000000000000000000000000016905561056c81610e24565b600280547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83169081179091556040519081527f99d737e0adf2c449d71890b86772885ec7959b152ddb265f76325b6e68e105d39060200160405180910390a150565b7f00000000000000000000000000000000000000000000000000000000000000004210610b1a576040517f601095660000000000000000000000000000000000000000000000000000000081527f00000000000000000000000000000000000000000000000000000000000000006004820152602401610323565b73ffffffffffffffffffffffffffffffffffffffff8116610b67576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600886901c5f90815260036020526040902054600160ff88161b1615610bbc576040517fb3167bfa00000000000000000000000000000000000000000000000000000000815260048101879052602401610323565b6040805160208101889052908101869052606081018590525f90608001604080517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe081840301815282825280516020918201209083015201604051602081830303815290604052805190602001209050610c5884847f000000000000000000000000000000000000000000000000000000000000000084610e98565b610c8e576040517f7ca55c7700000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600887901c5f9081526003602052604090208054600160ff8a161b179055604080518881526020810188905290810186905273ffffffffffffffffffffffffffffffffffffffff831660608201527fcfc9556eee5919522f59481221460cf4d54921fad3299f2da2d4c1542d080bc79060800160405180910390a1610d4a73ffffffffffffffffffffffffffffffffffffffff7f0000000000000000000000000000000000000000000000000000000000000000168387610995565b50505050505050565b5f5f5f8351604103610d8a576020840151604085015160608601515f1a610d7c88828585610eaf565b955095509550505050610d95565b505081515f91506002905b9250925092565b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f81815273ffffffffffffffffffffffffffffffffffffffff8616600452602485905291602083604481808b5af1925060015f51148316610e18578383151615610e0c573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b5f805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b5f82610ea5868685610fa2565b1495945050505050565b5f80807f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0841115610ee857505f91506003905082610f98565b604080515f808252602082018084528a905260ff891692820192909252606081018790526080810186905260019060a0016020604051602081039080840390855afa158015610f39573d5f5f3e3d5ffd5b50506040517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0015191505073ffffffffffffffffffffffffffffffffffffffff8116610f8f57505f925060019150829050610f98565b92505f91508190505b9450945094915050565b5f81815b84811015610fda57610fd082878784818110610fc457610fc4611225565b90506020020135610fe3565b9150600101610fa6565b50949350505050565b5f818310610ffd575f82815260208490526040902061100b565b5f8381526020839052604090205b9392505050565b803573ffffffffffffffffffffffffffffffffffffffff81168114611035575f5ffd5b919050565b5f6020828403121561104a575f5ffd5b61100b82611012565b5f60208284031215611063575f5ffd5b5035919050565b5f5f83601f84011261107a575f5ffd5b50813567ffffffffffffffff811115611091575f5ffd5b6020830191508360208260051b85010111156110ab575f5ffd5b9250929050565b5f5f5f5f5f608086880312156110c6575f5ffd5b853594506020860135935060408601359250606086013567ffffffffffffffff8111156110f1575f5ffd5b6110fd8882890161106a565b969995985093965092949392505050565b5f5f5f5f5f5f5f5f5f60e08a8c031215611126575f5ffd5b8935985060208a0135975060408a0135965060608a013567ffffffffffffffff811115611151575f5ffd5b61115d8c828d0161106a565b9097509550611170905060808b01611012565b935060a08a0135925060c08a013567ffffffffffffffff811115611192575f5ffd5b8a01601f81018c136111a2575f5ffd5b803567ffffffffffffffff8111156111b8575f5ffd5b8c60208284010111156111c9575f5ffd5b60208201935080925050509295985092959850929598565b5f602082840312156111f1575f5ffd5b5051919050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd' as const
