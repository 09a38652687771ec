// Generated from contracts/evm/test-doubles/TestToken.sol by `npm run contracts`; not to be edited.

export const testTokenAbi = [
  {
    "inputs": [],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "allowance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientAllowance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
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
    "name": "ERC20InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "approver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidApprover",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidReceiver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSpender",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Approval",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Transfer",
    "type": "event"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "allowance",
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
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "approve",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "balanceOf",
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
    "name": "blocked",
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
    "name": "calledBack",
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
    "name": "data",
    "outputs": [
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "decimals",
    "outputs": [
      {
        "internalType": "uint8",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "mint",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "mode",
    "outputs": [
      {
        "internalType": "enum TestToken.Mode",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "name",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "blocked_",
        "type": "address"
      }
    ],
    "name": "setBlocked",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "target_",
        "type": "address"
      },
      {
        "internalType": "bytes",
        "name": "data_",
        "type": "bytes"
      }
    ],
    "name": "setCallBack",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "enum TestToken.Mode",
        "name": "mode_",
        "type": "uint8"
      }
    ],
    "name": "setMode",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "symbol",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "target",
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
    "name": "totalSupply",
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
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "transfer",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "transferFrom",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

export const testTokenBytecode =
  '0x608060405234801561000f575f5ffd5b506040518060400160405280600a8152602001692a32b9ba103a37b5b2b760b11b81525060405180604001604052806004815260200163151154d560e21b815250816003908161005f9190610117565b50600461006c8282610117565b5050506101d5565b634e487b7160e01b5f52604160045260245ffd5b600181811c9082168061009c57607f821691505b6020821081036100ba57634e487b7160e01b5f52602260045260245ffd5b50919050565b601f821115610112578282111561011257805f5260205f20601f840160051c60208510156100eb57505f5b90810190601f840160051c035f5b8181101561010e575f838201556001016100f9565b5050505b505050565b81516001600160401b0381111561013057610130610074565b6101448161013e8454610088565b846100c0565b6020601f821160018114610176575f831561015f5750848201515b5f19600385901b1c1916600184901b1784556101ce565b5f84815260208120601f198516915b828110156101a55787850151825560209485019460019092019101610185565b50848210156101c257868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b6112b4806101e25f395ff3fe608060405234801561000f575f5ffd5b506004361061012f575f3560e01c8063313ce567116100ad57806395d89b411161007d578063d4b8399211610063578063d4b83992146102ac578063d64c38ef146102d1578063dd62ed3e1461032b575f5ffd5b806395d89b4114610291578063a9059cbb14610299575f5ffd5b8063313ce5671461023257806340c10f191461024157806370a082311461025457806373d4a13a14610289575f5ffd5b806321175b4a11610102578063256fd4eb116100e8578063256fd4eb146101c1578063295a5212146101ce578063303bdd2c146101e8575f5ffd5b806321175b4a1461019b57806323b872dd146101ae575f5ffd5b806306fdde0314610133578063095ea7b3146101515780630e49d6911461017457806318160ddd14610189575b5f5ffd5b61013b610370565b6040516101489190610dc1565b60405180910390f35b61016461015f366004610dfb565b610400565b6040519015158152602001610148565b610187610182366004610e23565b610419565b005b6002545b604051908152602001610148565b6101876101a9366004610ea1565b610475565b6101646101bc366004610ebf565b6104ba565b6007546101649060ff1681565b6005546101db9060ff1681565b6040516101489190610f26565b60075461020d90610100900473ffffffffffffffffffffffffffffffffffffffff1681565b60405173ffffffffffffffffffffffffffffffffffffffff9091168152602001610148565b60405160128152602001610148565b61018761024f366004610dfb565b6104db565b61018d610262366004610f65565b73ffffffffffffffffffffffffffffffffffffffff165f9081526020819052604090205490565b61013b6104e9565b61013b610575565b6101646102a7366004610dfb565b610584565b60055461020d90610100900473ffffffffffffffffffffffffffffffffffffffff1681565b6101876102df366004610f65565b6007805473ffffffffffffffffffffffffffffffffffffffff909216610100027fffffffffffffffffffffff0000000000000000000000000000000000000000ff909216919091179055565b61018d610339366004610f7e565b73ffffffffffffffffffffffffffffffffffffffff9182165f90815260016020908152604080832093909416825291909152205490565b60606003805461037f90610faf565b80601f01602080910402602001604051908101604052809291908181526020018280546103ab90610faf565b80156103f65780601f106103cd576101008083540402835291602001916103f6565b820191905f5260205f20905b8154815290600101906020018083116103d957829003601f168201915b5050505050905090565b5f3361040d818585610590565b60019150505b92915050565b6005805473ffffffffffffffffffffffffffffffffffffffff8516610100027fffffffffffffffffffffff000000000000000000000000000000000000000000909116176007179055600661046f828483611083565b50505050565b600580548291907fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff001660018360078111156104b2576104b2610ef9565b021790555050565b5f6104c68433846105a2565b6104d184848461066f565b90505b9392505050565b6104e5828261091b565b5050565b600680546104f690610faf565b80601f016020809104026020016040519081016040528092919081815260200182805461052290610faf565b801561056d5780601f106105445761010080835404028352916020019161056d565b820191905f5260205f20905b81548152906001019060200180831161055057829003601f168201915b505050505081565b60606004805461037f90610faf565b5f6104d433848461066f565b61059d8383836001610975565b505050565b73ffffffffffffffffffffffffffffffffffffffff8381165f908152600160209081526040808320938616835292905220547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff81101561046f5781811015610661576040517ffb8f41b200000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260248101829052604481018390526064015b60405180910390fd5b61046f84848484035f610975565b6007545f9073ffffffffffffffffffffffffffffffffffffffff6101009091048116908416036106fb576040517f08c379a000000000000000000000000000000000000000000000000000000000815260206004820152600760248201527f626c6f636b6564000000000000000000000000000000000000000000000000006044820152606401610658565b600660055460ff16600781111561071457610714610ef9565b0361077b576040517f08c379a000000000000000000000000000000000000000000000000000000000815260206004820152600c60248201527f6e6f207472616e736665727300000000000000000000000000000000000000006044820152606401610658565b600360055460ff16600781111561079457610794610ef9565b036107a057505f6104d4565b6005805460ff1660078111156107b8576107b8610ef9565b036107c5575060016104d4565b600760055460ff1660078111156107de576107de610ef9565b036108825760055460405161010090910473ffffffffffffffffffffffffffffffffffffffff16906108129060069061119a565b5f604051808303815f865af19150503d805f811461084b576040519150601f19603f3d011682016040523d82523d5f602084013e610850565b606091505b5050600780547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00169115159190911790555b5f61088e600a84611256565b90506108c88585600160055460ff1660078111156108ae576108ae610ef9565b146108b95785610aba565b6108c3848761128e565b610aba565b600260055460ff1660078111156108e1576108e1610ef9565b036108f0576108f08582610b63565b600460055460ff16600781111561090957610909610ef9565b0361091057005b506001949350505050565b73ffffffffffffffffffffffffffffffffffffffff821661096a576040517fec442f050000000000000000000000000000000000000000000000000000000081525f6004820152602401610658565b6104e55f8383610bb9565b73ffffffffffffffffffffffffffffffffffffffff84166109c4576040517fe602df050000000000000000000000000000000000000000000000000000000081525f6004820152602401610658565b73ffffffffffffffffffffffffffffffffffffffff8316610a13576040517f94280d620000000000000000000000000000000000000000000000000000000081525f6004820152602401610658565b73ffffffffffffffffffffffffffffffffffffffff8085165f908152600160209081526040808320938716835292905220829055801561046f578273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92584604051610aac91815260200190565b60405180910390a350505050565b73ffffffffffffffffffffffffffffffffffffffff8316610b09576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f6004820152602401610658565b73ffffffffffffffffffffffffffffffffffffffff8216610b58576040517fec442f050000000000000000000000000000000000000000000000000000000081525f6004820152602401610658565b61059d838383610bb9565b73ffffffffffffffffffffffffffffffffffffffff8216610bb2576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f6004820152602401610658565b6104e5825f835b73ffffffffffffffffffffffffffffffffffffffff8316610bf0578060025f828254610be591906112a1565b90915550610ca09050565b73ffffffffffffffffffffffffffffffffffffffff83165f9081526020819052604090205481811015610c75576040517fe450d38c00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff851660048201526024810182905260448101839052606401610658565b73ffffffffffffffffffffffffffffffffffffffff84165f9081526020819052604090209082900390555b73ffffffffffffffffffffffffffffffffffffffff8216610cc957600280548290039055610cf4565b73ffffffffffffffffffffffffffffffffffffffff82165f9081526020819052604090208054820190555b8173ffffffffffffffffffffffffffffffffffffffff168373ffffffffffffffffffffffffffffffffffffffff167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef83604051610d5391815260200190565b60405180910390a3505050565b5f81518084525f5b81811015610d8457602081850181015186830182015201610d68565b505f6020828601015260207fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011685010191505092915050565b602081525f6104d46020830184610d60565b803573ffffffffffffffffffffffffffffffffffffffff81168114610df6575f5ffd5b919050565b5f5f60408385031215610e0c575f5ffd5b610e1583610dd3565b946020939093013593505050565b5f5f5f60408486031215610e35575f5ffd5b610e3e84610dd3565b9250602084013567ffffffffffffffff811115610e59575f5ffd5b8401601f81018613610e69575f5ffd5b803567ffffffffffffffff811115610e7f575f5ffd5b866020828401011115610e90575f5ffd5b939660209190910195509293505050565b5f60208284031215610eb1575f5ffd5b8135600881106104d4575f5ffd5b5f5f5f60608486031215610ed1575f5ffd5b610eda84610dd3565b9250610ee860208501610dd3565b929592945050506040919091013590565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b6020810160088310610f5f577f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b91905290565b5f60208284031215610f75575f5ffd5b6104d482610dd3565b5f5f60408385031215610f8f575f5ffd5b610f9883610dd3565b9150610fa660208401610dd3565b90509250929050565b600181811c90821680610fc357607f821691505b602082108103610ffa577f4e487b71000000000000000000000000000000000000000000000000000000005f52602260045260245ffd5b50919050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52604160045260245ffd5b601f82111561059d578282111561059d57805f5260205f20601f840160051c602085101561105857505f5b90810190601f840160051c035f5b8181101561107b575f83820155600101611066565b505050505050565b67ffffffffffffffff83111561109b5761109b611000565b6110af836110a98354610faf565b8361102d565b5f601f8411600181146110ff575f85156110c95750838201355b7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff600387901b1c1916600186901b178355611193565b5f838152602081207fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe08716915b8281101561114c578685013582556020948501946001909201910161112c565b5086821015611187577fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff60f88860031b161c19848701351681555b505060018560011b0183555b5050505050565b5f5f83546111a781610faf565b6001821680156111be57600181146111f15761121e565b7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff008316865281151582028601935061121e565b865f5260205f205f5b83811015611216578154888201526001909101906020016111fa565b505081860193505b509195945050505050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b5f82611289577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b500490565b8181038181111561041357610413611229565b808201808211156104135761041361122956' as const
