// Generated from contracts/evm/local/LocalMessageLib.sol by `npm run contracts`; not to be edited.

export const localMessageLibAbi = [
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
        "name": "verifier_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [],
    "name": "BadOptions",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "BadPacket",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint32",
        "name": "dstEid",
        "type": "uint32"
      }
    ],
    "name": "NoPrice",
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
    "name": "OnlyEndpoint",
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
    "name": "OnlyVerifier",
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
    "name": "QuoteUnavailable",
    "type": "error"
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
        "internalType": "uint32",
        "name": "dstEid",
        "type": "uint32"
      },
      {
        "components": [
          {
            "internalType": "uint128",
            "name": "base",
            "type": "uint128"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          }
        ],
        "indexed": false,
        "internalType": "struct LocalMessageLib.Price",
        "name": "price",
        "type": "tuple"
      }
    ],
    "name": "PriceSet",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bool",
        "name": "fails",
        "type": "bool"
      }
    ],
    "name": "QuoteFailsSet",
    "type": "event"
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
        "internalType": "uint32",
        "name": "",
        "type": "uint32"
      }
    ],
    "name": "isSupportedEid",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "pure",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "localEid",
    "outputs": [
      {
        "internalType": "uint32",
        "name": "",
        "type": "uint32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "messageLibType",
    "outputs": [
      {
        "internalType": "enum MessageLibType",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "pure",
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
        "internalType": "uint32",
        "name": "dstEid",
        "type": "uint32"
      }
    ],
    "name": "priceOf",
    "outputs": [
      {
        "internalType": "uint128",
        "name": "base",
        "type": "uint128"
      },
      {
        "internalType": "uint64",
        "name": "numerator",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "denominator",
        "type": "uint64"
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
            "internalType": "uint64",
            "name": "nonce",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "srcEid",
            "type": "uint32"
          },
          {
            "internalType": "address",
            "name": "sender",
            "type": "address"
          },
          {
            "internalType": "uint32",
            "name": "dstEid",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "receiver",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "guid",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "message",
            "type": "bytes"
          }
        ],
        "internalType": "struct Packet",
        "name": "packet",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "options",
        "type": "bytes"
      },
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "name": "quote",
    "outputs": [
      {
        "components": [
          {
            "internalType": "uint256",
            "name": "nativeFee",
            "type": "uint256"
          },
          {
            "internalType": "uint256",
            "name": "lzTokenFee",
            "type": "uint256"
          }
        ],
        "internalType": "struct MessagingFee",
        "name": "",
        "type": "tuple"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "quoteFails",
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
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "uint64",
            "name": "nonce",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "srcEid",
            "type": "uint32"
          },
          {
            "internalType": "address",
            "name": "sender",
            "type": "address"
          },
          {
            "internalType": "uint32",
            "name": "dstEid",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "receiver",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "guid",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "message",
            "type": "bytes"
          }
        ],
        "internalType": "struct Packet",
        "name": "packet",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "options",
        "type": "bytes"
      },
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "name": "send",
    "outputs": [
      {
        "components": [
          {
            "internalType": "uint256",
            "name": "nativeFee",
            "type": "uint256"
          },
          {
            "internalType": "uint256",
            "name": "lzTokenFee",
            "type": "uint256"
          }
        ],
        "internalType": "struct MessagingFee",
        "name": "fee",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "encodedPacket",
        "type": "bytes"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint32",
        "name": "dstEid",
        "type": "uint32"
      },
      {
        "components": [
          {
            "internalType": "uint128",
            "name": "base",
            "type": "uint128"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          }
        ],
        "internalType": "struct LocalMessageLib.Price",
        "name": "price",
        "type": "tuple"
      }
    ],
    "name": "setPrice",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bool",
        "name": "fails",
        "type": "bool"
      }
    ],
    "name": "setQuoteFails",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "verifier_",
        "type": "address"
      }
    ],
    "name": "setVerifier",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes4",
        "name": "interfaceId",
        "type": "bytes4"
      }
    ],
    "name": "supportsInterface",
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
    "inputs": [
      {
        "internalType": "bytes",
        "name": "packet",
        "type": "bytes"
      }
    ],
    "name": "validatePacket",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "verifier",
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
    "name": "version",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "major",
        "type": "uint64"
      },
      {
        "internalType": "uint8",
        "name": "minor",
        "type": "uint8"
      },
      {
        "internalType": "uint8",
        "name": "endpointVersion",
        "type": "uint8"
      }
    ],
    "stateMutability": "pure",
    "type": "function"
  },
  {
    "stateMutability": "payable",
    "type": "receive"
  }
] as const

export const localMessageLibBytecode =
  '0x60c060405234801561000f575f5ffd5b50604051611c78380380611c7883398101604081905261002e9161016d565b816001600160a01b03811661005c57604051631e4fbdf760e01b81525f600482015260240160405180910390fd5b61006581610103565b506001600160a01b03831660808190526040805163416ecebf60e01b8152905163416ecebf916004808201926020929091908290030181865afa1580156100ae573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906100d291906101ad565b63ffffffff1660a052600180546001600160a01b0319166001600160a01b0392909216919091179055506101d79050565b5f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b80516001600160a01b0381168114610168575f5ffd5b919050565b5f5f5f6060848603121561017f575f5ffd5b61018884610152565b925061019660208501610152565b91506101a460408501610152565b90509250925092565b5f602082840312156101bd575f5ffd5b815163ffffffff811681146101d0575f5ffd5b9392505050565b60805160a051611a6b61020d5f395f81816102e0015261060c01525f818161027901528181610715015261083b0152611a6b5ff3fe608060405260043610610126575f3560e01c8063715018a6116100a1578063d80e9bd911610071578063e0b3cc9011610057578063e0b3cc90146103bc578063e9e27c5e14610471578063f2fde38b14610490575f5ffd5b8063d80e9bd91461035f578063e08950f51461038b575f5ffd5b8063715018a6146102bb57806372607537146102cf5780638543fa87146103175780638da5cb5b14610336575f5ffd5b80634389e58f116100f657806354fd4d50116100dc57806354fd4d501461023e5780635e280f11146102685780636750cd4c1461029b575f5ffd5b80634389e58f146101f25780635437988d1461021f575f5ffd5b806301ffc9a71461013157806312cc947f146101655780631881d94d146101865780632b7ac3f3146101a1575f5ffd5b3661012d57005b5f5ffd5b34801561013c575f5ffd5b5061015061014b3660046111c8565b6104af565b60405190151581526020015b60405180910390f35b348015610170575f5ffd5b5061018461017f36600461124c565b610547565b005b348015610191575f5ffd5b50600260405161015c91906112b8565b3480156101ac575f5ffd5b506001546101cd9073ffffffffffffffffffffffffffffffffffffffff1681565b60405173ffffffffffffffffffffffffffffffffffffffff909116815260200161015c565b3480156101fd575f5ffd5b5061021161020c36600461130b565b61080e565b60405161015c92919061138a565b34801561022a575f5ffd5b50610184610239366004611405565b61094e565b348015610249575f5ffd5b50604080515f808252602082015260029181019190915260600161015c565b348015610273575f5ffd5b506101cd7f000000000000000000000000000000000000000000000000000000000000000081565b3480156102a6575f5ffd5b506101506102b536600461144b565b50600190565b3480156102c6575f5ffd5b5061018461099d565b3480156102da575f5ffd5b506103027f000000000000000000000000000000000000000000000000000000000000000081565b60405163ffffffff909116815260200161015c565b348015610322575f5ffd5b50610184610331366004611464565b6109b0565b348015610341575f5ffd5b505f5473ffffffffffffffffffffffffffffffffffffffff166101cd565b34801561036a575f5ffd5b5061037e61037936600461130b565b610a18565b60405161015c91906114be565b348015610396575f5ffd5b506001546101509074010000000000000000000000000000000000000000900460ff1681565b3480156103c7575f5ffd5b506104386103d636600461144b565b60026020525f90815260409020546fffffffffffffffffffffffffffffffff81169067ffffffffffffffff7001000000000000000000000000000000008204811691780100000000000000000000000000000000000000000000000090041683565b604080516fffffffffffffffffffffffffffffffff909416845267ffffffffffffffff928316602085015291169082015260600161015c565b34801561047c575f5ffd5b5061018461048b3660046114d5565b610a4e565b34801561049b575f5ffd5b506101846104aa366004611405565b610ada565b5f7fffffffff0000000000000000000000000000000000000000000000000000000082167f97f0258400000000000000000000000000000000000000000000000000000000148061054157507f01ffc9a7000000000000000000000000000000000000000000000000000000007fffffffff000000000000000000000000000000000000000000000000000000008316145b92915050565b60015473ffffffffffffffffffffffffffffffffffffffff16331461059f576040517f2e8d67db0000000000000000000000000000000000000000000000000000000081523360048201526024015b60405180910390fd5b60718110806105ce5750600182825f816105bb576105bb6114ee565b9050013560f81c60f81b60f81c60ff1614155b15610605576040517ff00a9ae300000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b63ffffffff7f00000000000000000000000000000000000000000000000000000000000000001661063a6031602d848661151b565b61064391611542565b60e01c1461067d576040517ff00a9ae300000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60408051606081019091525f9080610699600d6009868861151b565b6106a291611542565b60e01c81526020016106b8602d600d868861151b565b6106c1916115a7565b81526020016106d460096001868861151b565b6106dd916115e3565b60c01c905290505f6106f360516031858761151b565b6106fc916115a7565b905073ffffffffffffffffffffffffffffffffffffffff7f00000000000000000000000000000000000000000000000000000000000000001663a825d7478383610749876051818b61151b565b604051610757929190611648565b6040805191829003822060e086901b7fffffffff00000000000000000000000000000000000000000000000000000000168352845163ffffffff1660048401526020850151602484015293015167ffffffffffffffff16604482015273ffffffffffffffffffffffffffffffffffffffff9091166064820152608481019190915260a4015f604051808303815f87803b1580156107f2575f5ffd5b505af1158015610804573d5f5f3e3d5ffd5b5050505050505050565b604080518082019091525f808252602082015260603373ffffffffffffffffffffffffffffffffffffffff7f00000000000000000000000000000000000000000000000000000000000000001614610894576040517f91ac5e4f000000000000000000000000000000000000000000000000000000008152336004820152602401610596565b6108ae6108a7608088016060890161144b565b8686610b3d565b915060016108bf602088018861166c565b6108cf6040890160208a0161144b565b6108df60608a0160408b01611405565b73ffffffffffffffffffffffffffffffffffffffff1661090560808b0160608c0161144b565b60808b013560a08c013561091c60c08e018e611687565b604051602001610934999897969594939291906116e8565b604051602081830303815290604052905094509492505050565b610956610ce2565b600180547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff92909216919091179055565b6109a5610ce2565b6109ae5f610d34565b565b6109b8610ce2565b63ffffffff82165f90815260026020526040902081906109d882826117dc565b9050507fe8d871766940f39643e15a8b524efca5da1f3817ce7489a122a00886e455f40c8282604051610a0c929190611865565b60405180910390a15050565b604080518082019091525f8082526020820152610a45610a3e608087016060880161144b565b8585610b3d565b95945050505050565b610a56610ce2565b6001805482151574010000000000000000000000000000000000000000027fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff9091161790556040517fd1298efbaf7f69dd262e0cd40e345b34b773320951be4cf9574fce2d72f453fe90610acf90831515815260200190565b60405180910390a150565b610ae2610ce2565b73ffffffffffffffffffffffffffffffffffffffff8116610b31576040517f1e4fbdf70000000000000000000000000000000000000000000000000000000081525f6004820152602401610596565b610b3a81610d34565b50565b604080518082019091525f808252602082015260015474010000000000000000000000000000000000000000900460ff1615610ba5576040517f6eed12ff00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b63ffffffff84165f908152600260209081526040808320815160608101835290546fffffffffffffffffffffffffffffffff8116825267ffffffffffffffff700100000000000000000000000000000000820481169483019490945278010000000000000000000000000000000000000000000000009004909216908201819052909103610c67576040517f90d736ad00000000000000000000000000000000000000000000000000000000815263ffffffff86166004820152602401610596565b5f610c728585610da8565b90505f610c9e82846020015167ffffffffffffffff16856040015167ffffffffffffffff166001610f7e565b9050604051806040016040528082855f01516fffffffffffffffffffffffffffffffff16610ccc9190611908565b81526020015f81525093505050505b9392505050565b5f5473ffffffffffffffffffffffffffffffffffffffff1633146109ae576040517f118cdaa7000000000000000000000000000000000000000000000000000000008152336004820152602401610596565b5f805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b5f6002821080610dd55750610dc060025f848661151b565b610dc99161191b565b60f01c61ffff16600314155b15610e0c576040517f26864a7a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60025b82811015610f77576004610e238285611980565b1015610e5b576040517f26864a7a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f8484610e69846001611908565b90610e75856003611908565b92610e829392919061151b565b610e8b9161191b565b60f01c610e99836003611908565b610ea39190611908565b9050610eb0826004611908565b811080610ebc57508381115b15610ef3576040517f26864a7a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001858584818110610f0757610f076114ee565b9050013560f81c60f81b60f81c60ff1603610f7057610f638585610f2c856003611908565b818110610f3b57610f3b6114ee565b919091013560f81c90508686610f52866004611908565b610f5e9286929061151b565b610fc0565b610f6d9084611908565b92505b9050610e0f565b5092915050565b5f610fab610f8b836110a0565b8015610fa657505f8480610fa157610fa1611993565b868809115b151590565b610fb68686866110cc565b610a459190611908565b5f7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff60ff851601611057576010829003610ffb57505f610cdb565b60208290036110255761101260206010848661151b565b61101b916119c0565b60801c9050610cdb565b6040517f26864a7a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b7ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe60ff8516016110975760308290036110255761101260105f848661151b565b505f9392505050565b5f60028260038111156110b5576110b561128b565b6110bf9190611a25565b60ff166001149050919050565b5f5f5f6110d9868661117c565b91509150815f036110fd578381816110f3576110f3611993565b0492505050610cdb565b8184116111145761111460038515026011186111b7565b5f848688095f868103871696879004966002600389028118808a02820302808a02820302808a02820302808a02820302808a02820302808a02909103029181900381900460010185841190960395909502919093039390930492909217029150509392505050565b5f807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff83850993909202808410938190039390930393915050565b634e487b715f52806020526024601cfd5b5f602082840312156111d8575f5ffd5b81357fffffffff0000000000000000000000000000000000000000000000000000000081168114610cdb575f5ffd5b5f5f83601f840112611217575f5ffd5b50813567ffffffffffffffff81111561122e575f5ffd5b602083019150836020828501011115611245575f5ffd5b9250929050565b5f5f6020838503121561125d575f5ffd5b823567ffffffffffffffff811115611273575f5ffd5b61127f85828601611207565b90969095509350505050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b60208101600383106112f1577f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b91905290565b80358015158114611306575f5ffd5b919050565b5f5f5f5f6060858703121561131e575f5ffd5b843567ffffffffffffffff811115611334575f5ffd5b850160e08188031215611345575f5ffd5b9350602085013567ffffffffffffffff811115611360575f5ffd5b61136c87828801611207565b909450925061137f9050604086016112f7565b905092959194509250565b8251815260208084015190820152606060408201525f82518060608401525f5b818110156113c757602081860181015160808684010152016113aa565b505f6080828501015260807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f8301168401019150509392505050565b5f60208284031215611415575f5ffd5b813573ffffffffffffffffffffffffffffffffffffffff81168114610cdb575f5ffd5b803563ffffffff81168114611306575f5ffd5b5f6020828403121561145b575f5ffd5b610cdb82611438565b5f5f8284036080811215611476575f5ffd5b61147f84611438565b925060607fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0820112156114b0575f5ffd5b506020830190509250929050565b815181526020808301519082015260408101610541565b5f602082840312156114e5575f5ffd5b610cdb826112f7565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b5f5f85851115611529575f5ffd5b83861115611535575f5ffd5b5050820193919092039150565b80357fffffffff000000000000000000000000000000000000000000000000000000008116906004841015610f77577fffffffff00000000000000000000000000000000000000000000000000000000808560040360031b1b82161691505092915050565b80356020831015610541577fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff602084900360031b1b1692915050565b80357fffffffffffffffff0000000000000000000000000000000000000000000000008116906008841015610f77577fffffffffffffffff000000000000000000000000000000000000000000000000808560080360031b1b82161691505092915050565b818382375f9101908152919050565b67ffffffffffffffff81168114610b3a575f5ffd5b5f6020828403121561167c575f5ffd5b8135610cdb81611657565b5f5f83357fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe18436030181126116ba575f5ffd5b83018035915067ffffffffffffffff8211156116d4575f5ffd5b602001915036819003821315611245575f5ffd5b7fff000000000000000000000000000000000000000000000000000000000000008a60f81b1681527fffffffffffffffff0000000000000000000000000000000000000000000000008960c01b1660018201527fffffffff000000000000000000000000000000000000000000000000000000008860e01b16600982015286600d8201527fffffffff000000000000000000000000000000000000000000000000000000008660e01b16602d820152846031820152836051820152818360718301375f910160710190815298975050505050505050565b6fffffffffffffffffffffffffffffffff81168114610b3a575f5ffd5b81356117e7816117bf565b60208301356117f581611657565b604084013561180381611657565b7fffffffffffffffff0000000000000000000000000000000000000000000000008160c01b166fffffffffffffffffffffffffffffffff841677ffffffffffffffff000000000000000000000000000000008460801b16171784555050505050565b63ffffffff8316815260808101823561187d816117bf565b6fffffffffffffffffffffffffffffffff811660208401525060208301356118a481611657565b67ffffffffffffffff811660408401525060408301356118c381611657565b67ffffffffffffffff81166060840152509392505050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b80820180821115610541576105416118db565b80357fffff0000000000000000000000000000000000000000000000000000000000008116906002841015610f77577fffff000000000000000000000000000000000000000000000000000000000000808560020360031b1b82161691505092915050565b81810381811115610541576105416118db565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b80357fffffffffffffffffffffffffffffffff000000000000000000000000000000008116906010841015610f77577fffffffffffffffffffffffffffffffff00000000000000000000000000000000808560100360031b1b82161691505092915050565b5f60ff831680611a5c577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b8060ff8416069150509291505056' as const
