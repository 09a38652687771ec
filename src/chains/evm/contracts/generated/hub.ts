// Generated from contracts/evm/src/Hub.sol by `npm run contracts`; not to be edited.

export const hubAbi = [
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "endpoint_",
        "type": "address"
      },
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
        "internalType": "uint256",
        "name": "minimum_",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "deliverLimit_",
        "type": "uint256"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "messageId",
        "type": "bytes32"
      }
    ],
    "name": "AlreadyDelivered",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "BadBatch",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "minimum",
        "type": "uint256"
      }
    ],
    "name": "BelowMinimum",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "wouldBe",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "limit",
        "type": "uint256"
      }
    ],
    "name": "DeliverLimitExceeded",
    "type": "error"
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
    "inputs": [],
    "name": "InvalidDelegate",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidEndpointCall",
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
        "internalType": "uint32",
        "name": "eid",
        "type": "uint32"
      }
    ],
    "name": "NoPeer",
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
        "name": "addr",
        "type": "address"
      }
    ],
    "name": "OnlyEndpoint",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint32",
        "name": "eid",
        "type": "uint32"
      },
      {
        "internalType": "bytes32",
        "name": "sender",
        "type": "bytes32"
      }
    ],
    "name": "OnlyPeer",
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
    "name": "TooLittleGas",
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
        "name": "sum",
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
    "name": "ZeroSender",
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
        "name": "amount",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "name",
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
        "name": "from",
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
        "internalType": "bytes32",
        "name": "name",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "referral",
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
        "name": "from",
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
        "internalType": "bytes32",
        "name": "name",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint8",
        "name": "reason",
        "type": "uint8"
      }
    ],
    "name": "BidRefused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "weiPerDay",
        "type": "uint256"
      }
    ],
    "name": "DeliverLimitSet",
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
    "name": "KeptWithdrawn",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "guid",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "from",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "MessageRefused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "minimum",
        "type": "uint256"
      }
    ],
    "name": "MinimumSet",
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
        "name": "guid",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "from",
        "type": "bytes32"
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
    "name": "PayoutFailed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint32",
        "name": "eid",
        "type": "uint32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "peer",
        "type": "bytes32"
      }
    ],
    "name": "PeerSet",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "guid",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "from",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "bids",
        "type": "uint256"
      }
    ],
    "name": "Received",
    "type": "event"
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
    "name": "RefundWithdrawn",
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
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Unpaused",
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
        "components": [
          {
            "internalType": "uint32",
            "name": "srcEid",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "sender",
            "type": "bytes32"
          },
          {
            "internalType": "uint64",
            "name": "nonce",
            "type": "uint64"
          }
        ],
        "internalType": "struct Origin",
        "name": "origin",
        "type": "tuple"
      }
    ],
    "name": "allowInitializePath",
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
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "messageId",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "from",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "amounts",
        "type": "uint256[]"
      },
      {
        "internalType": "bytes32[]",
        "name": "names",
        "type": "bytes32[]"
      },
      {
        "internalType": "bytes32",
        "name": "referral",
        "type": "bytes32"
      }
    ],
    "name": "deliver",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "deliverLimit",
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
        "name": "day",
        "type": "uint256"
      }
    ],
    "name": "deliveredOn",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "endpoint",
    "outputs": [
      {
        "internalType": "contract ILayerZeroEndpointV2",
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
            "internalType": "uint32",
            "name": "srcEid",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "sender",
            "type": "bytes32"
          },
          {
            "internalType": "uint64",
            "name": "nonce",
            "type": "uint64"
          }
        ],
        "internalType": "struct Origin",
        "name": "",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      },
      {
        "internalType": "address",
        "name": "_sender",
        "type": "address"
      }
    ],
    "name": "isComposeMsgSender",
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
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "messageId",
        "type": "bytes32"
      }
    ],
    "name": "isDelivered",
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
    "name": "kept",
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
        "components": [
          {
            "internalType": "uint32",
            "name": "srcEid",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "sender",
            "type": "bytes32"
          },
          {
            "internalType": "uint64",
            "name": "nonce",
            "type": "uint64"
          }
        ],
        "internalType": "struct Origin",
        "name": "_origin",
        "type": "tuple"
      },
      {
        "internalType": "bytes32",
        "name": "_guid",
        "type": "bytes32"
      },
      {
        "internalType": "bytes",
        "name": "_message",
        "type": "bytes"
      },
      {
        "internalType": "address",
        "name": "_executor",
        "type": "address"
      },
      {
        "internalType": "bytes",
        "name": "_extraData",
        "type": "bytes"
      }
    ],
    "name": "lzReceive",
    "outputs": [],
    "stateMutability": "payable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "minimum",
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
        "internalType": "uint32",
        "name": "",
        "type": "uint32"
      },
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "name": "nextNonce",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "nonce",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "oAppVersion",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "senderVersion",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "receiverVersion",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owed",
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
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "name",
        "type": "bytes32"
      }
    ],
    "name": "ownerOf",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "owner",
        "type": "bytes32"
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
        "internalType": "uint32",
        "name": "eid",
        "type": "uint32"
      }
    ],
    "name": "peers",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "peer",
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
        "internalType": "bytes32",
        "name": "name",
        "type": "bytes32"
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
        "name": "name",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "referral",
        "type": "bytes32"
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
        "internalType": "uint256[]",
        "name": "amounts",
        "type": "uint256[]"
      },
      {
        "internalType": "bytes32[]",
        "name": "names",
        "type": "bytes32[]"
      }
    ],
    "name": "placeBids",
    "outputs": [],
    "stateMutability": "payable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256[]",
        "name": "amounts",
        "type": "uint256[]"
      },
      {
        "internalType": "bytes32[]",
        "name": "names",
        "type": "bytes32[]"
      },
      {
        "internalType": "bytes32",
        "name": "referral",
        "type": "bytes32"
      }
    ],
    "name": "placeBids",
    "outputs": [],
    "stateMutability": "payable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "from",
        "type": "bytes32"
      }
    ],
    "name": "refundOf",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
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
        "name": "_delegate",
        "type": "address"
      }
    ],
    "name": "setDelegate",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "weiPerDay",
        "type": "uint256"
      }
    ],
    "name": "setDeliverLimit",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "minimum_",
        "type": "uint256"
      }
    ],
    "name": "setMinimum",
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
        "internalType": "uint32",
        "name": "_eid",
        "type": "uint32"
      },
      {
        "internalType": "bytes32",
        "name": "_peer",
        "type": "bytes32"
      }
    ],
    "name": "setPeer",
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
        "name": "to",
        "type": "address"
      }
    ],
    "name": "withdrawKept",
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
    "name": "withdrawRefund",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

export const hubBytecode =
  '0x60a060405234801561000f575f5ffd5b50604051612af7380380612af783398101604081905261002e916102bd565b8585806001600160a01b03811661005e57604051631e4fbdf760e01b81525f600482015260240160405180910390fd5b61006781610126565b506001600160a01b03808316608052811661009557604051632d618d8160e21b815260040160405180910390fd5b60805160405163ca5eb5e160e01b81526001600160a01b0383811660048301529091169063ca5eb5e1906024015f604051808303815f87803b1580156100d9575f5ffd5b505af11580156100eb573d5f5f3e3d5ffd5b5050505050506101008261013260201b60201c565b6101098161016e565b610112846101a3565b61011b836101f1565b505050505050610321565b61012f8161023f565b50565b60098190556040518181527f5ed904be4d8036aa64ccc956e317b03d24d6eb5209d557f4a191f4fa6de6df2a906020015b60405180910390a150565b600a8190556040518181527f4986fca8e886abcfdf130e2e3cc13d67280f53a11323e7eab2a10d35fe9d7b3f90602001610163565b600b80546001600160a01b0319166001600160a01b0383169081179091556040519081527fb7041340e0c2a075059bf0488a71c767724be15dae8e737f8460007325e8d85790602001610163565b600c80546001600160a01b0319166001600160a01b0383169081179091556040519081527fd11d57c2c7468878b1035df11c670bcd0091aa840bf8aa166365397622237bea90602001610163565b600280546001600160a01b031916905561012f815f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b80516001600160a01b03811681146102b8575f5ffd5b919050565b5f5f5f5f5f5f60c087890312156102d2575f5ffd5b6102db876102a2565b95506102e9602088016102a2565b94506102f7604088016102a2565b9350610305606088016102a2565b608088015160a090980151969995985093969395939492505050565b6080516127a961034e5f395f8181610430015281816107950152818161098e0152610dcf01526127a95ff3fe608060405260043610610277575f3560e01c8063806102a91161014b578063bb0b6a53116100c6578063f2fde38b1161007c578063fa60d07711610062578063fa60d07714610742578063fdad12fd14610761578063ff7bd03d14610774575f5ffd5b8063f2fde38b14610710578063f8f468a81461072f575f5ffd5b8063ca5eb5e1116100ac578063ca5eb5e114610699578063e1526b46146106b8578063e30c3978146106e6575f5ffd5b8063bb0b6a5314610659578063c87d677914610684575f5ffd5b80638da5cb5b1161011b578063a16c86f711610101578063a16c86f714610606578063acc3e84f14610625578063b43b2ed01461063a575f5ffd5b80638da5cb5b146105b15780639fd0506d146105da575f5ffd5b8063806102a91461052157806382413eac146105365780638406c079146105715780638456cb591461059d575f5ffd5b8063497ecfc5116101f55780636548e9bc116101ab57806379ba50971161019157806379ba5097146104aa5780637d25a05e146104be5780637dd56411146104f6575f5ffd5b80636548e9bc14610477578063715018a614610496575f5ffd5b806352d6804d116101db57806352d6804d146103cf5780635c975abb146103e45780635e280f111461041f575f5ffd5b8063497ecfc5146103915780634f315315146103a4575f5ffd5b80632d88af4a1161024a5780633400288b116102305780633400288b1461034b5780633f4ba83a1461036a57806340bee8351461037e575f5ffd5b80632d88af4a1461030d5780633209e9e61461032c575f5ffd5b806313137d651461027b57806317442b70146102905780631d89abac146102b557806322ac9320146102ee575b5f5ffd5b61028e610289366004612296565b610793565b005b34801561029b575f5ffd5b50604080515f815260026020820152015b60405180910390f35b3480156102c0575f5ffd5b506102e06102cf366004612331565b60046020525f908152604090205481565b6040519081526020016102ac565b3480156102f9575f5ffd5b5061028e610308366004612331565b610892565b348015610318575f5ffd5b5061028e610327366004612348565b6108a6565b348015610337575f5ffd5b5061028e610346366004612331565b6108b7565b348015610356575f5ffd5b5061028e610365366004612374565b6108c8565b348015610375575f5ffd5b5061028e6108de565b61028e61038c3660046123dd565b6108f0565b61028e61039f366004612331565b610903565b3480156103af575f5ffd5b506102e06103be366004612331565b60066020525f908152604090205481565b3480156103da575f5ffd5b506102e060095481565b3480156103ef575f5ffd5b5060025474010000000000000000000000000000000000000000900460ff165b60405190151581526020016102ac565b34801561042a575f5ffd5b506104527f000000000000000000000000000000000000000000000000000000000000000081565b60405173ffffffffffffffffffffffffffffffffffffffff90911681526020016102ac565b348015610482575f5ffd5b5061028e610491366004612348565b61090d565b3480156104a1575f5ffd5b5061028e61091e565b3480156104b5575f5ffd5b5061028e610958565b3480156104c9575f5ffd5b506104dd6104d8366004612374565b6109f6565b60405167ffffffffffffffff90911681526020016102ac565b348015610501575f5ffd5b506102e0610510366004612331565b60036020525f908152604090205481565b34801561052c575f5ffd5b506102e0600a5481565b348015610541575f5ffd5b5061040f610550366004612449565b73ffffffffffffffffffffffffffffffffffffffff81163014949350505050565b34801561057c575f5ffd5b50600b546104529073ffffffffffffffffffffffffffffffffffffffff1681565b3480156105a8575f5ffd5b5061028e6109fe565b3480156105bc575f5ffd5b505f5473ffffffffffffffffffffffffffffffffffffffff16610452565b3480156105e5575f5ffd5b50600c546104529073ffffffffffffffffffffffffffffffffffffffff1681565b348015610611575f5ffd5b5061028e610620366004612348565b610a7e565b348015610630575f5ffd5b506102e060075481565b348015610645575f5ffd5b5061028e6106543660046124ab565b610b83565b348015610664575f5ffd5b506102e0610673366004612535565b60016020525f908152604090205481565b34801561068f575f5ffd5b506102e060085481565b3480156106a4575f5ffd5b5061028e6106b3366004612348565b610d82565b3480156106c3575f5ffd5b5061040f6106d2366004612331565b60056020525f908152604090205460ff1681565b3480156106f1575f5ffd5b5060025473ffffffffffffffffffffffffffffffffffffffff16610452565b34801561071b575f5ffd5b5061028e61072a366004612348565b610e29565b61028e61073d36600461254e565b610e32565b34801561074d575f5ffd5b5061028e61075c366004612348565b610e3c565b61028e61076f36600461256e565b610ef2565b34801561077f575f5ffd5b5061040f61078e3660046125e1565b610eff565b7f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff163314610809576040517f91ac5e4f0000000000000000000000000000000000000000000000000000000081523360048201526024015b60405180910390fd5b602087018035906108239061081e908a612535565b610f33565b1461087a576108356020880188612535565b6040517fc26bebcc00000000000000000000000000000000000000000000000000000000815263ffffffff909116600482015260208801356024820152604401610800565b61088987878787878787610f87565b50505050505050565b61089a611065565b6108a3816110b7565b50565b6108ae611065565b6108a3816110f3565b6108bf611065565b6108a381611166565b6108d0611065565b6108da828261119b565b5050565b6108e6611065565b6108ee6111f0565b565b6108fd848484845f61126d565b50505050565b6108a3815f61132b565b610915611065565b6108a38161134e565b610926611065565b6040517f3c776be100000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6109606113c1565b6040517fca5eb5e10000000000000000000000000000000000000000000000000000000081523360048201527f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff169063ca5eb5e1906024015f604051808303815f87803b1580156109e4575f5ffd5b505af11580156108fd573d5f5f3e3d5ffd5b5f5b92915050565b600c5473ffffffffffffffffffffffffffffffffffffffff163314801590610a3d57505f5473ffffffffffffffffffffffffffffffffffffffff163314155b15610a76576040517f206a346e000000000000000000000000000000000000000000000000000000008152336004820152602401610800565b6108ee611435565b73ffffffffffffffffffffffffffffffffffffffff8116610acb576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b335f8181526004602052604081205490819003610b14576040517f797dba5400000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b610b1e82826114a4565b6040805183815273ffffffffffffffffffffffffffffffffffffffff851660208201529081018290527fe2ad778664269350fa6734ce4341839a84b45a565cfbde87ba7d2c4675c41d4b9060600160405180910390a1610b7e83826114e2565b505050565b610b8b611587565b600b5473ffffffffffffffffffffffffffffffffffffffff163314610bde576040517f366b2e5a000000000000000000000000000000000000000000000000000000008152336004820152602401610800565b85610c15576040517fb03f51c600000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f8781526005602052604090205460ff1615610c60576040517f56bc34a100000000000000000000000000000000000000000000000000000000815260048101889052602401610800565b610c6c858585856115dc565b505f87815260056020526040812080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00166001179055610cb06201518042612628565b90505f610cc188888888888861163b565b5f83815260066020526040902054610cd99190612660565b9050600a54811115610d2557600a546040517fea4c0384000000000000000000000000000000000000000000000000000000008152610800918391600401918252602082015260400190565b5f8281526006602090815260409182902083905581518b81529081018a90529081018590527f27706dfc0794359e318bcf449f089675e8b06228d019c29d129865f6896be2089060600160405180910390a1505050505050505050565b610d8a611065565b6040517fca5eb5e100000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff82811660048301527f0000000000000000000000000000000000000000000000000000000000000000169063ca5eb5e1906024015f604051808303815f87803b158015610e10575f5ffd5b505af1158015610e22573d5f5f3e3d5ffd5b5050505050565b6108a3816116a1565b6108da828261132b565b610e44611065565b73ffffffffffffffffffffffffffffffffffffffff8116610e91576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600780545f9091556040805173ffffffffffffffffffffffffffffffffffffffff84168152602081018390527f6207c02f083309bdcc319316a61283caaed82b506af6bd934363267a1b730410910160405180910390a16108da82826114e2565b610e22858585858561126d565b5f602082018035906001908390610f169086612535565b63ffffffff16815260208101919091526040015f20541492915050565b63ffffffff81165f90815260016020526040812054806109f8576040517ff6ff4fb700000000000000000000000000000000000000000000000000000000815263ffffffff84166004820152602401610800565b610f8f611587565b5f365f610f9c8888611750565b9250925092505f610fad83836117e8565b90505f841580610fcd57505f826003811115610fcb57610fcb612673565b145b15610fe157610fdc8b86611914565b611016565b6003826003811115610ff557610ff5612673565b0361100657610fdc8b86868661195e565b6110138b868686866119ae565b90505b604080518c8152602081018790529081018290527f27706dfc0794359e318bcf449f089675e8b06228d019c29d129865f6896be2089060600160405180910390a1505050505050505050505050565b5f5473ffffffffffffffffffffffffffffffffffffffff1633146108ee576040517f118cdaa7000000000000000000000000000000000000000000000000000000008152336004820152602401610800565b600a8190556040518181527f4986fca8e886abcfdf130e2e3cc13d67280f53a11323e7eab2a10d35fe9d7b3f906020015b60405180910390a150565b600c80547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83169081179091556040519081527fd11d57c2c7468878b1035df11c670bcd0091aa840bf8aa166365397622237bea906020016110e8565b60098190556040518181527f5ed904be4d8036aa64ccc956e317b03d24d6eb5209d557f4a191f4fa6de6df2a906020016110e8565b63ffffffff82165f81815260016020908152604091829020849055815192835282018390527f238399d427b947898edb290f5ff0f9109849b1c3ba196a42e35f00c50a54b98b91015b60405180910390a15050565b6111f8611a54565b600280547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff1690557f5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa335b60405173ffffffffffffffffffffffffffffffffffffffff909116815260200160405180910390a1565b611275611587565b5f611282868686866115dc565b90508034146112c6576040517f195a3ca100000000000000000000000000000000000000000000000000000000815234600482015260248101829052604401610800565b5f5b838110156113125761130a8787838181106112e5576112e56126a0565b905060200201358686848181106112fe576112fe6126a0565b90506020020135611aa8565b6001016112c8565b503361088981611326818a8a8a8a8a61163b565b611b7e565b611333611587565b61133d3483611aa8565b33610b7e8161132681348787611ba8565b600b80547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83169081179091556040519081527fb7041340e0c2a075059bf0488a71c767724be15dae8e737f8460007325e8d857906020016110e8565b600254339073ffffffffffffffffffffffffffffffffffffffff16811461142c576040517f118cdaa700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff82166004820152602401610800565b6108a381611cd1565b61143d611587565b600280547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff16740100000000000000000000000000000000000000001790557f62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a2586112433390565b5f82815260046020526040812080548392906114c19084906126cd565b925050819055508060085f8282546114d991906126cd565b90915550505050565b80471015611525576040517fcf47918100000000000000000000000000000000000000000000000000000000815247600482015260248101829052604401610800565b61153e828260405180602001604052805f815250611cda565b15611547575050565b3d15611555576108da611cef565b6040517fd6bda27500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60025474010000000000000000000000000000000000000000900460ff16156108ee576040517fd93c066500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f5f5f6115e98787611cfa565b915091508115806115fa5750858414155b15611631576040517f86bdc25c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b9695505050505050565b5f805b83811015611696576116828888888481811061165c5761165c6126a0565b90506020020135878785818110611675576116756126a0565b9050602002013586611ba8565b61168c9083612660565b915060010161163e565b509695505050505050565b6116a9611065565b6002805473ffffffffffffffffffffffffffffffffffffffff83167fffffffffffffffffffffffff0000000000000000000000000000000000000000909116811790915561170b5f5473ffffffffffffffffffffffffffffffffffffffff1690565b73ffffffffffffffffffffffffffffffffffffffff167f38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e2270060405160405180910390a350565b5f368161175f818086886126e0565b9092509050602084106117e15761177960205f86886126e0565b61178291612707565b9250604084106117e1575f80806117b288886117a26040602083856126e0565b6117ab91612707565b6001611d71565b92509250925082156117dd578782886117cb8483612660565b926117d8939291906126e0565b945094505b5050505b9250925092565b5f60048210156117f957505f6109f8565b5f61180760048285876126e0565b61181091612743565b90507fbf4117cb000000000000000000000000000000000000000000000000000000007fffffffff000000000000000000000000000000000000000000000000000000008216016118655760019150506109f8565b7f0252ed03000000000000000000000000000000000000000000000000000000007fffffffff000000000000000000000000000000000000000000000000000000008216016118b85760029150506109f8565b7f5e937909000000000000000000000000000000000000000000000000000000007fffffffff0000000000000000000000000000000000000000000000000000000082160161190b5760039150506109f8565b505f9392505050565b61191e8134611de7565b604080518381526020810183905234918101919091527ff792740469e73f1381e0baeba60ab6f8c2080d06fa1d22eb5c18d6bdda64b697906060016111e4565b5f5f61196a8484611e27565b91509150816119845761197d8686611914565b50506108fd565b61198e8534611de7565b5f8581526004602052604090205480156108895761088987878484611e63565b5f803681818180806119c18b8b8b611fa6565b9650965096509650965096509650866119ed576119de8d8d611914565b5f975050505050505050611a4b565b803414611a2f576040517f195a3ca100000000000000000000000000000000000000000000000000000000815234600482015260248101829052604401610800565b611a418c6113268e898989898961163b565b5090955050505050505b95945050505050565b60025474010000000000000000000000000000000000000000900460ff166108ee576040517f8dfc202b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f611ab38383612080565b90507fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff60ff821601611b14576040517f5df7a9bb00000000000000000000000000000000000000000000000000000000815260048101839052602401610800565b7ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe60ff821601610b7e576009546040517fbd49034f000000000000000000000000000000000000000000000000000000008152610800918591600401918252602082015260400190565b8060075f828254611b8f9190612660565b909155506108da905082611ba383346126cd565b611de7565b5f81611bf45760408051868152602081018690529081018490527ffab4f0f69fcc31fb7e2f7506221ad6c20a0d46cec98ee895500cdf264493ec689060600160405180910390a1611c3d565b6040805186815260208101869052908101849052606081018390527fd41a8eb20a47acce25f13b147ad75d53d5f5184fde3014cbf8552b21297ed57f9060800160405180910390a15b5f611c488585612080565b905060ff811615611ca257604080518781526020810187905290810185905260ff821660608201527f05a21f27144d1232881654088fb272795ee390ec8a67d8ea9de363a89fa67f129060800160405180910390a1611cc8565b5f84815260036020526040902054611cc8575f8481526003602052604090208690558491505b50949350505050565b6108a3816120af565b5f5f5f83516020850186885af1949350505050565b6040513d5f823e3d81fd5b5f8082801580611d0a5750606481115b15611d1b575f5f9250925050611d6a565b5f5b81811015611d63575f868683818110611d3857611d386126a0565b905060200201358401905083811015611d59575f5f94509450505050611d6a565b9250600101611d1d565b5060019250505b9250929050565b5f80806020861080611d8c5750611d896020876126cd565b85115b15611d9e57505f915081905080611ddd565b611da9856020612660565b9150611db78286888a6126e0565b611dc091612707565b905083611dcd83886126cd565b611dd79190612628565b81111592505b9450945094915050565b805f03611df2575050565b5f8281526004602052604081208054839290611e0f908490612660565b925050819055508060085f8282546114d99190612660565b5f806024831015611e3a575f9150611d6a565b5f611e496024600486886126e0565b611e5291612707565b60a081901c15969095509350505050565b6201d4c05a1015611ea0576040517f5dd42bb600000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f73ffffffffffffffffffffffffffffffffffffffff831615611ee257611ec784836114a4565b5f5f5f5f858761c350f1905080611ee257611ee28483611de7565b8015611f43576040805185815273ffffffffffffffffffffffffffffffffffffffff851660208201529081018390527fe2ad778664269350fa6734ce4341839a84b45a565cfbde87ba7d2c4675c41d4b9060600160405180910390a1610e22565b604080518681526020810186905273ffffffffffffffffffffffffffffffffffffffff8516818301526060810184905290517f2637869d279e68418442ac020db6ed536772cd132861a9bc1333d2b5efa25b339181900360800190a15050505050565b5f3681818180808381611fbc8b6004818f6126e0565b91509150611fcb82825f6120e0565b919a50985096505f3681611fe1858560206120e0565b909a509850925088915087905060028d600381111561200257612002612673565b03612032576060841015612018575f9250612032565b6120266060604086886126e0565b61202f91612707565b96505b8b158061203d575082155b806120485750898814155b1561205e57505f9a508a94506120739350505050565b6120688b8b611cfa565b909c50955050505050505b9397509397509397909450565b5f61208a82612156565b612096575060016109f8565b60095483106120a5575f6120a8565b60025b9392505050565b600280547fffffffffffffffffffffffff00000000000000000000000000000000000000001690556108a3816121a6565b5f83816120ee846020612660565b8510156120fd575f925061214d565b5f8061212f8888818982612112826020612660565b9261211f939291906126e0565b61212891612707565b6020611d71565b9196509250905084612145575f9450505061214d565b908701925090505b93509350939050565b5f8180820361216757505f92915050565b801561219d576f07fffffe8000000003ff20000000000060f882901c1c6001165f0361219557505f92915050565b60081b612167565b50600192915050565b5f805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b5f6060828403121561222a575f5ffd5b50919050565b5f5f83601f840112612240575f5ffd5b50813567ffffffffffffffff811115612257575f5ffd5b602083019150836020828501011115611d6a575f5ffd5b803573ffffffffffffffffffffffffffffffffffffffff81168114612291575f5ffd5b919050565b5f5f5f5f5f5f5f60e0888a0312156122ac575f5ffd5b6122b6898961221a565b965060608801359550608088013567ffffffffffffffff8111156122d8575f5ffd5b6122e48a828b01612230565b90965094506122f7905060a0890161226e565b925060c088013567ffffffffffffffff811115612312575f5ffd5b61231e8a828b01612230565b989b979a50959850939692959293505050565b5f60208284031215612341575f5ffd5b5035919050565b5f60208284031215612358575f5ffd5b6120a88261226e565b803563ffffffff81168114612291575f5ffd5b5f5f60408385031215612385575f5ffd5b61238e83612361565b946020939093013593505050565b5f5f83601f8401126123ac575f5ffd5b50813567ffffffffffffffff8111156123c3575f5ffd5b6020830191508360208260051b8501011115611d6a575f5ffd5b5f5f5f5f604085870312156123f0575f5ffd5b843567ffffffffffffffff811115612406575f5ffd5b6124128782880161239c565b909550935050602085013567ffffffffffffffff811115612431575f5ffd5b61243d8782880161239c565b95989497509550505050565b5f5f5f5f60a0858703121561245c575f5ffd5b612466868661221a565b9350606085013567ffffffffffffffff811115612481575f5ffd5b61248d87828801612230565b90945092506124a090506080860161226e565b905092959194509250565b5f5f5f5f5f5f5f60a0888a0312156124c1575f5ffd5b8735965060208801359550604088013567ffffffffffffffff8111156124e5575f5ffd5b6124f18a828b0161239c565b909650945050606088013567ffffffffffffffff811115612510575f5ffd5b61251c8a828b0161239c565b989b979a50959894979596608090950135949350505050565b5f60208284031215612545575f5ffd5b6120a882612361565b5f5f6040838503121561255f575f5ffd5b50508035926020909101359150565b5f5f5f5f5f60608688031215612582575f5ffd5b853567ffffffffffffffff811115612598575f5ffd5b6125a48882890161239c565b909650945050602086013567ffffffffffffffff8111156125c3575f5ffd5b6125cf8882890161239c565b96999598509660400135949350505050565b5f606082840312156125f1575f5ffd5b6120a8838361221a565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b5f8261265b577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b500490565b808201808211156109f8576109f86125fb565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b818103818111156109f8576109f86125fb565b5f5f858511156126ee575f5ffd5b838611156126fa575f5ffd5b5050820193919092039150565b803560208310156109f8577fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff602084900360031b1b1692915050565b80357fffffffff0000000000000000000000000000000000000000000000000000000081169060048410156127a2577fffffffff00000000000000000000000000000000000000000000000000000000808560040360031b1b82161691505b509291505056' as const
