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
  '0x60a060405234801561000f575f5ffd5b50604051612b1d380380612b1d83398101604081905261002e916102c6565b82808787806001600160a01b03811661006057604051631e4fbdf760e01b81525f600482015260240160405180910390fd5b6100698161012b565b506001600160a01b03808316608052811661009757604051632d618d8160e21b815260040160405180910390fd5b60805160405163ca5eb5e160e01b81526001600160a01b0383811660048301529091169063ca5eb5e1906024015f604051808303815f87803b1580156100db575f5ffd5b505af11580156100ed573d5f5f3e3d5ffd5b5050505050506101028161013760201b60201c565b5061010e90508261018c565b610117816101c1565b610120846101f6565b50505050505061032a565b61013481610244565b50565b600380546001600160a01b0319166001600160a01b0383169081179091556040519081527fd11d57c2c7468878b1035df11c670bcd0091aa840bf8aa166365397622237bea906020015b60405180910390a150565b600a8190556040518181527f5ed904be4d8036aa64ccc956e317b03d24d6eb5209d557f4a191f4fa6de6df2a90602001610181565b600b8190556040518181527f4986fca8e886abcfdf130e2e3cc13d67280f53a11323e7eab2a10d35fe9d7b3f90602001610181565b600c80546001600160a01b0319166001600160a01b0383169081179091556040519081527fb7041340e0c2a075059bf0488a71c767724be15dae8e737f8460007325e8d85790602001610181565b61013481600280546001600160a01b0319169055610134815f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b80516001600160a01b03811681146102c1575f5ffd5b919050565b5f5f5f5f5f5f60c087890312156102db575f5ffd5b6102e4876102ab565b95506102f2602088016102ab565b9450610300604088016102ab565b935061030e606088016102ab565b608088015160a090980151969995985093969395939492505050565b6080516127c66103575f395f8181610430015281816107950152818161095c0152610d9d01526127c65ff3fe608060405260043610610277575f3560e01c8063806102a91161014b578063bb0b6a53116100c6578063f2fde38b1161007c578063fa60d07711610062578063fa60d07714610742578063fdad12fd14610761578063ff7bd03d14610774575f5ffd5b8063f2fde38b14610710578063f8f468a81461072f575f5ffd5b8063ca5eb5e1116100ac578063ca5eb5e114610699578063e1526b46146106b8578063e30c3978146106e6575f5ffd5b8063bb0b6a5314610659578063c87d677914610684575f5ffd5b80638da5cb5b1161011b578063a16c86f711610101578063a16c86f714610606578063acc3e84f14610625578063b43b2ed01461063a575f5ffd5b80638da5cb5b146105b15780639fd0506d146105da575f5ffd5b8063806102a91461052157806382413eac146105365780638406c079146105715780638456cb591461059d575f5ffd5b8063497ecfc5116101f55780636548e9bc116101ab57806379ba50971161019157806379ba5097146104aa5780637d25a05e146104be5780637dd56411146104f6575f5ffd5b80636548e9bc14610477578063715018a614610496575f5ffd5b806352d6804d116101db57806352d6804d146103cf5780635c975abb146103e45780635e280f111461041f575f5ffd5b8063497ecfc5146103915780634f315315146103a4575f5ffd5b80632d88af4a1161024a5780633400288b116102305780633400288b1461034b5780633f4ba83a1461036a57806340bee8351461037e575f5ffd5b80632d88af4a1461030d5780633209e9e61461032c575f5ffd5b806313137d651461027b57806317442b70146102905780631d89abac146102b557806322ac9320146102ee575b5f5ffd5b61028e6102893660046122b3565b610793565b005b34801561029b575f5ffd5b50604080515f815260026020820152015b60405180910390f35b3480156102c0575f5ffd5b506102e06102cf36600461234e565b60056020525f908152604090205481565b6040519081526020016102ac565b3480156102f9575f5ffd5b5061028e61030836600461234e565b610892565b348015610318575f5ffd5b5061028e610327366004612365565b6108a6565b348015610337575f5ffd5b5061028e61034636600461234e565b6108b7565b348015610356575f5ffd5b5061028e610365366004612391565b6108c8565b348015610375575f5ffd5b5061028e6108de565b61028e61038c3660046123fa565b6108f0565b61028e61039f36600461234e565b610903565b3480156103af575f5ffd5b506102e06103be36600461234e565b60076020525f908152604090205481565b3480156103da575f5ffd5b506102e0600a5481565b3480156103ef575f5ffd5b5060025474010000000000000000000000000000000000000000900460ff165b60405190151581526020016102ac565b34801561042a575f5ffd5b506104527f000000000000000000000000000000000000000000000000000000000000000081565b60405173ffffffffffffffffffffffffffffffffffffffff90911681526020016102ac565b348015610482575f5ffd5b5061028e610491366004612365565b61090d565b3480156104a1575f5ffd5b5061028e61091e565b3480156104b5575f5ffd5b5061028e610926565b3480156104c9575f5ffd5b506104dd6104d8366004612391565b6109c4565b60405167ffffffffffffffff90911681526020016102ac565b348015610501575f5ffd5b506102e061051036600461234e565b60046020525f908152604090205481565b34801561052c575f5ffd5b506102e0600b5481565b348015610541575f5ffd5b5061040f610550366004612466565b73ffffffffffffffffffffffffffffffffffffffff81163014949350505050565b34801561057c575f5ffd5b50600c546104529073ffffffffffffffffffffffffffffffffffffffff1681565b3480156105a8575f5ffd5b5061028e6109cc565b3480156105bc575f5ffd5b505f5473ffffffffffffffffffffffffffffffffffffffff16610452565b3480156105e5575f5ffd5b506003546104529073ffffffffffffffffffffffffffffffffffffffff1681565b348015610611575f5ffd5b5061028e610620366004612365565b610a4c565b348015610630575f5ffd5b506102e060085481565b348015610645575f5ffd5b5061028e6106543660046124c8565b610b51565b348015610664575f5ffd5b506102e0610673366004612552565b60016020525f908152604090205481565b34801561068f575f5ffd5b506102e060095481565b3480156106a4575f5ffd5b5061028e6106b3366004612365565b610d50565b3480156106c3575f5ffd5b5061040f6106d236600461234e565b60066020525f908152604090205460ff1681565b3480156106f1575f5ffd5b5060025473ffffffffffffffffffffffffffffffffffffffff16610452565b34801561071b575f5ffd5b5061028e61072a366004612365565b610df7565b61028e61073d36600461256b565b610e00565b34801561074d575f5ffd5b5061028e61075c366004612365565b610e0a565b61028e61076f36600461258b565b610ec0565b34801561077f575f5ffd5b5061040f61078e3660046125fe565b610ecd565b7f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff163314610809576040517f91ac5e4f0000000000000000000000000000000000000000000000000000000081523360048201526024015b60405180910390fd5b602087018035906108239061081e908a612552565b610f01565b1461087a576108356020880188612552565b6040517fc26bebcc00000000000000000000000000000000000000000000000000000000815263ffffffff909116600482015260208801356024820152604401610800565b61088987878787878787610f55565b50505050505050565b61089a611033565b6108a381611085565b50565b6108ae611033565b6108a3816110c1565b6108bf611033565b6108a381611134565b6108d0611033565b6108da8282611169565b5050565b6108e6611033565b6108ee6111be565b565b6108fd848484845f61123b565b50505050565b6108a3815f6112f9565b610915611033565b6108a38161131c565b6108ee61138f565b61092e611397565b6040517fca5eb5e10000000000000000000000000000000000000000000000000000000081523360048201527f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff169063ca5eb5e1906024015f604051808303815f87803b1580156109b2575f5ffd5b505af11580156108fd573d5f5f3e3d5ffd5b5f5b92915050565b60035473ffffffffffffffffffffffffffffffffffffffff163314801590610a0b57505f5473ffffffffffffffffffffffffffffffffffffffff163314155b15610a44576040517f206a346e000000000000000000000000000000000000000000000000000000008152336004820152602401610800565b6108ee61140b565b73ffffffffffffffffffffffffffffffffffffffff8116610a99576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b335f8181526005602052604081205490819003610ae2576040517f797dba5400000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b610aec828261147a565b6040805183815273ffffffffffffffffffffffffffffffffffffffff851660208201529081018290527fe2ad778664269350fa6734ce4341839a84b45a565cfbde87ba7d2c4675c41d4b9060600160405180910390a1610b4c83826114b8565b505050565b610b5961155d565b600c5473ffffffffffffffffffffffffffffffffffffffff163314610bac576040517f366b2e5a000000000000000000000000000000000000000000000000000000008152336004820152602401610800565b85610be3576040517fb03f51c600000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f8781526006602052604090205460ff1615610c2e576040517f56bc34a100000000000000000000000000000000000000000000000000000000815260048101889052602401610800565b610c3a858585856115b2565b505f87815260066020526040812080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00166001179055610c7e6201518042612645565b90505f610c8f888888888888611611565b5f83815260076020526040902054610ca7919061267d565b9050600b54811115610cf357600b546040517fea4c0384000000000000000000000000000000000000000000000000000000008152610800918391600401918252602082015260400190565b5f8281526007602090815260409182902083905581518b81529081018a90529081018590527f27706dfc0794359e318bcf449f089675e8b06228d019c29d129865f6896be2089060600160405180910390a1505050505050505050565b610d58611033565b6040517fca5eb5e100000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff82811660048301527f0000000000000000000000000000000000000000000000000000000000000000169063ca5eb5e1906024015f604051808303815f87803b158015610dde575f5ffd5b505af1158015610df0573d5f5f3e3d5ffd5b5050505050565b6108a381611677565b6108da82826112f9565b610e12611033565b73ffffffffffffffffffffffffffffffffffffffff8116610e5f576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600880545f9091556040805173ffffffffffffffffffffffffffffffffffffffff84168152602081018390527f6207c02f083309bdcc319316a61283caaed82b506af6bd934363267a1b730410910160405180910390a16108da82826114b8565b610df0858585858561123b565b5f602082018035906001908390610ee49086612552565b63ffffffff16815260208101919091526040015f20541492915050565b63ffffffff81165f90815260016020526040812054806109c6576040517ff6ff4fb700000000000000000000000000000000000000000000000000000000815263ffffffff84166004820152602401610800565b610f5d61155d565b5f365f610f6a8888611680565b9250925092505f610f7b8383611718565b90505f841580610f9b57505f826003811115610f9957610f99612690565b145b15610faf57610faa8b86611844565b610fe4565b6003826003811115610fc357610fc3612690565b03610fd457610faa8b86868661188e565b610fe18b868686866118de565b90505b604080518c8152602081018790529081018290527f27706dfc0794359e318bcf449f089675e8b06228d019c29d129865f6896be2089060600160405180910390a1505050505050505050505050565b5f5473ffffffffffffffffffffffffffffffffffffffff1633146108ee576040517f118cdaa7000000000000000000000000000000000000000000000000000000008152336004820152602401610800565b600b8190556040518181527f4986fca8e886abcfdf130e2e3cc13d67280f53a11323e7eab2a10d35fe9d7b3f906020015b60405180910390a150565b600380547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83169081179091556040519081527fd11d57c2c7468878b1035df11c670bcd0091aa840bf8aa166365397622237bea906020016110b6565b600a8190556040518181527f5ed904be4d8036aa64ccc956e317b03d24d6eb5209d557f4a191f4fa6de6df2a906020016110b6565b63ffffffff82165f81815260016020908152604091829020849055815192835282018390527f238399d427b947898edb290f5ff0f9109849b1c3ba196a42e35f00c50a54b98b91015b60405180910390a15050565b6111c6611984565b600280547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff1690557f5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa335b60405173ffffffffffffffffffffffffffffffffffffffff909116815260200160405180910390a1565b61124361155d565b5f611250868686866115b2565b9050803414611294576040517f195a3ca100000000000000000000000000000000000000000000000000000000815234600482015260248101829052604401610800565b5f5b838110156112e0576112d88787838181106112b3576112b36126bd565b905060200201358686848181106112cc576112cc6126bd565b905060200201356119d8565b600101611296565b5033610889816112f4818a8a8a8a8a611611565b611aae565b61130161155d565b61130b34836119d8565b33610b4c816112f481348787611ad8565b600c80547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83169081179091556040519081527fb7041340e0c2a075059bf0488a71c767724be15dae8e737f8460007325e8d857906020016110b6565b6108ee611c01565b600254339073ffffffffffffffffffffffffffffffffffffffff168114611402576040517f118cdaa700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff82166004820152602401610800565b6108a381611c3b565b61141361155d565b600280547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff16740100000000000000000000000000000000000000001790557f62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a2586112113390565b5f82815260056020526040812080548392906114979084906126ea565b925050819055508060095f8282546114af91906126ea565b90915550505050565b804710156114fb576040517fcf47918100000000000000000000000000000000000000000000000000000000815247600482015260248101829052604401610800565b611514828260405180602001604052805f815250611c44565b1561151d575050565b3d1561152b576108da611c59565b6040517fd6bda27500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60025474010000000000000000000000000000000000000000900460ff16156108ee576040517fd93c066500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f5f5f6115bf8787611c64565b915091508115806115d05750858414155b15611607576040517f86bdc25c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b9695505050505050565b5f805b8381101561166c5761165888888884818110611632576116326126bd565b9050602002013587878581811061164b5761164b6126bd565b9050602002013586611ad8565b611662908361267d565b9150600101611614565b509695505050505050565b6108a381611cdb565b5f368161168f818086886126fd565b909250905060208410611711576116a960205f86886126fd565b6116b291612724565b925060408410611711575f80806116e288886116d26040602083856126fd565b6116db91612724565b6001611d8a565b925092509250821561170d578782886116fb848361267d565b92611708939291906126fd565b945094505b5050505b9250925092565b5f600482101561172957505f6109c6565b5f61173760048285876126fd565b61174091612760565b90507fbf4117cb000000000000000000000000000000000000000000000000000000007fffffffff000000000000000000000000000000000000000000000000000000008216016117955760019150506109c6565b7f0252ed03000000000000000000000000000000000000000000000000000000007fffffffff000000000000000000000000000000000000000000000000000000008216016117e85760029150506109c6565b7f5e937909000000000000000000000000000000000000000000000000000000007fffffffff0000000000000000000000000000000000000000000000000000000082160161183b5760039150506109c6565b505f9392505050565b61184e8134611e00565b604080518381526020810183905234918101919091527ff792740469e73f1381e0baeba60ab6f8c2080d06fa1d22eb5c18d6bdda64b697906060016111b2565b5f5f61189a8484611e40565b91509150816118b4576118ad8686611844565b50506108fd565b6118be8534611e00565b5f8581526005602052604090205480156108895761088987878484611e7c565b5f803681818180806118f18b8b8b611fbf565b96509650965096509650965096508661191d5761190e8d8d611844565b5f97505050505050505061197b565b80341461195f576040517f195a3ca100000000000000000000000000000000000000000000000000000000815234600482015260248101829052604401610800565b6119718c6112f48e8989898989611611565b5090955050505050505b95945050505050565b60025474010000000000000000000000000000000000000000900460ff166108ee576040517f8dfc202b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f6119e38383612099565b90507fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff60ff821601611a44576040517f5df7a9bb00000000000000000000000000000000000000000000000000000000815260048101839052602401610800565b7ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe60ff821601610b4c57600a546040517fbd49034f000000000000000000000000000000000000000000000000000000008152610800918591600401918252602082015260400190565b8060085f828254611abf919061267d565b909155506108da905082611ad383346126ea565b611e00565b5f81611b245760408051868152602081018690529081018490527ffab4f0f69fcc31fb7e2f7506221ad6c20a0d46cec98ee895500cdf264493ec689060600160405180910390a1611b6d565b6040805186815260208101869052908101849052606081018390527fd41a8eb20a47acce25f13b147ad75d53d5f5184fde3014cbf8552b21297ed57f9060800160405180910390a15b5f611b788585612099565b905060ff811615611bd257604080518781526020810187905290810185905260ff821660608201527f05a21f27144d1232881654088fb272795ee390ec8a67d8ea9de363a89fa67f129060800160405180910390a1611bf8565b5f84815260046020526040902054611bf8575f8481526004602052604090208690558491505b50949350505050565b611c09611033565b6040517f3c776be100000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6108a3816120c8565b5f5f5f83516020850186885af1949350505050565b6040513d5f823e3d81fd5b5f8082801580611c745750606481115b15611c85575f5f9250925050611cd4565b5f5b81811015611ccd575f868683818110611ca257611ca26126bd565b905060200201358401905083811015611cc3575f5f94509450505050611cd4565b9250600101611c87565b5060019250505b9250929050565b611ce3611033565b6002805473ffffffffffffffffffffffffffffffffffffffff83167fffffffffffffffffffffffff00000000000000000000000000000000000000009091168117909155611d455f5473ffffffffffffffffffffffffffffffffffffffff1690565b73ffffffffffffffffffffffffffffffffffffffff167f38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e2270060405160405180910390a350565b5f80806020861080611da55750611da26020876126ea565b85115b15611db757505f915081905080611df6565b611dc285602061267d565b9150611dd08286888a6126fd565b611dd991612724565b905083611de683886126ea565b611df09190612645565b81111592505b9450945094915050565b805f03611e0b575050565b5f8281526005602052604081208054839290611e2890849061267d565b925050819055508060095f8282546114af919061267d565b5f806024831015611e53575f9150611cd4565b5f611e626024600486886126fd565b611e6b91612724565b60a081901c15969095509350505050565b6201d4c05a1015611eb9576040517f5dd42bb600000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f73ffffffffffffffffffffffffffffffffffffffff831615611efb57611ee0848361147a565b5f5f5f5f858761c350f1905080611efb57611efb8483611e00565b8015611f5c576040805185815273ffffffffffffffffffffffffffffffffffffffff851660208201529081018390527fe2ad778664269350fa6734ce4341839a84b45a565cfbde87ba7d2c4675c41d4b9060600160405180910390a1610df0565b604080518681526020810186905273ffffffffffffffffffffffffffffffffffffffff8516818301526060810184905290517f2637869d279e68418442ac020db6ed536772cd132861a9bc1333d2b5efa25b339181900360800190a15050505050565b5f3681818180808381611fd58b6004818f6126fd565b91509150611fe482825f6120d1565b919a50985096505f3681611ffa858560206120d1565b909a509850925088915087905060028d600381111561201b5761201b612690565b0361204b576060841015612031575f925061204b565b61203f6060604086886126fd565b61204891612724565b96505b8b1580612056575082155b806120615750898814155b1561207757505f9a508a945061208c9350505050565b6120818b8b611c64565b909c50955050505050505b9397509397509397909450565b5f6120a382612147565b6120af575060016109c6565b600a5483106120be575f6120c1565b60025b9392505050565b6108a381612197565b5f83816120df84602061267d565b8510156120ee575f925061213e565b5f80612120888881898261210382602061267d565b92612110939291906126fd565b61211991612724565b6020611d8a565b9196509250905084612136575f9450505061213e565b908701925090505b93509350939050565b5f8180820361215857505f92915050565b801561218e576f07fffffe8000000003ff20000000000060f882901c1c6001165f0361218657505f92915050565b60081b612158565b50600192915050565b600280547fffffffffffffffffffffffff00000000000000000000000000000000000000001690556108a3815f805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b5f60608284031215612247575f5ffd5b50919050565b5f5f83601f84011261225d575f5ffd5b50813567ffffffffffffffff811115612274575f5ffd5b602083019150836020828501011115611cd4575f5ffd5b803573ffffffffffffffffffffffffffffffffffffffff811681146122ae575f5ffd5b919050565b5f5f5f5f5f5f5f60e0888a0312156122c9575f5ffd5b6122d38989612237565b965060608801359550608088013567ffffffffffffffff8111156122f5575f5ffd5b6123018a828b0161224d565b9096509450612314905060a0890161228b565b925060c088013567ffffffffffffffff81111561232f575f5ffd5b61233b8a828b0161224d565b989b979a50959850939692959293505050565b5f6020828403121561235e575f5ffd5b5035919050565b5f60208284031215612375575f5ffd5b6120c18261228b565b803563ffffffff811681146122ae575f5ffd5b5f5f604083850312156123a2575f5ffd5b6123ab8361237e565b946020939093013593505050565b5f5f83601f8401126123c9575f5ffd5b50813567ffffffffffffffff8111156123e0575f5ffd5b6020830191508360208260051b8501011115611cd4575f5ffd5b5f5f5f5f6040858703121561240d575f5ffd5b843567ffffffffffffffff811115612423575f5ffd5b61242f878288016123b9565b909550935050602085013567ffffffffffffffff81111561244e575f5ffd5b61245a878288016123b9565b95989497509550505050565b5f5f5f5f60a08587031215612479575f5ffd5b6124838686612237565b9350606085013567ffffffffffffffff81111561249e575f5ffd5b6124aa8782880161224d565b90945092506124bd90506080860161228b565b905092959194509250565b5f5f5f5f5f5f5f60a0888a0312156124de575f5ffd5b8735965060208801359550604088013567ffffffffffffffff811115612502575f5ffd5b61250e8a828b016123b9565b909650945050606088013567ffffffffffffffff81111561252d575f5ffd5b6125398a828b016123b9565b989b979a50959894979596608090950135949350505050565b5f60208284031215612562575f5ffd5b6120c18261237e565b5f5f6040838503121561257c575f5ffd5b50508035926020909101359150565b5f5f5f5f5f6060868803121561259f575f5ffd5b853567ffffffffffffffff8111156125b5575f5ffd5b6125c1888289016123b9565b909650945050602086013567ffffffffffffffff8111156125e0575f5ffd5b6125ec888289016123b9565b96999598509660400135949350505050565b5f6060828403121561260e575f5ffd5b6120c18383612237565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b5f82612678577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b500490565b808201808211156109c6576109c6612618565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b818103818111156109c6576109c6612618565b5f5f8585111561270b575f5ffd5b83861115612717575f5ffd5b5050820193919092039150565b803560208310156109c6577fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff602084900360031b1b1692915050565b80357fffffffff0000000000000000000000000000000000000000000000000000000081169060048410156127bf577fffffffff00000000000000000000000000000000000000000000000000000000808560040360031b1b82161691505b509291505056' as const
