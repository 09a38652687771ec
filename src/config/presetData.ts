// Sources of addresses and endpoint ids: @layerzerolabs/lz-evm-sdk-v2 3.1.10, @layerzerolabs/lz-definitions 3.1.13.
// Source of names, public RPC URLs, gas tokens other than ETH, and explorers: viem 2.57.20.

const PUBLIC_CHAINS = [
  {
    label: '1',
    name: 'Ethereum',
    publicRpcUrls: ['https://ethereum.reth.rs/rpc'],
    genesisHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    eid: 30101,
    layerZero: {
      sendLibrary: '0xbb2ea70c9e858123480642cf96acbcce1372dce1',
      receiveLibrary: '0xc02ab410f0734efa3f14628780e6e695156024c2',
      executor: '0x173272739bd7aa6e4e214714048a9fe699453059',
      dvn: '0x589dedbd617e0cbcb916a9223f4d1300c294236b',
    },
    explorer: 'https://etherscan.io',
  },
  {
    label: '10',
    name: 'OP Mainnet',
    publicRpcUrls: ['https://mainnet.optimism.io'],
    genesisHash: '0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b',
    eid: 30111,
    layerZero: {
      sendLibrary: '0x1322871e4ab09bc7f5717189434f97bbd9546e95',
      receiveLibrary: '0x3c4962ff6258dcfcafd23a814237b7d6eb712063',
      executor: '0x2d2ea0697bdbede3f01553d2ae4b8d0c486b666e',
      dvn: '0x6a02d83e8d433304bba74ef1c427913958187142',
    },
    explorer: 'https://optimistic.etherscan.io',
  },
  {
    label: '56',
    name: 'BNB Smart Chain',
    publicRpcUrls: ['https://56.rpc.thirdweb.com'],
    genesisHash: '0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b',
    eid: 30102,
    layerZero: {
      sendLibrary: '0x9f8c645f2d0b2159767bd6e0839de4be49e823de',
      receiveLibrary: '0xb217266c3a98c8b2709ee26836c98cf12f6ccec1',
      executor: '0x3ebd570ed38b1b3b4bc886999fcf507e9d584859',
      dvn: '0xfd6865c841c2d64565562fcc7e05e619a30615f0',
    },
    gasToken: { symbol: 'BNB', decimals: 18 },
    explorer: 'https://bscscan.com',
  },
  {
    label: '137',
    name: 'Polygon',
    publicRpcUrls: ['https://polygon.drpc.org'],
    genesisHash: '0xa9c28ce2141b56c474f1dc504bee9b01eb1bd7d1a507580d5519d4437a97de1b',
    eid: 30109,
    layerZero: {
      sendLibrary: '0x6c26c61a97006888ea9e4fa36584c7df57cd9da3',
      receiveLibrary: '0x1322871e4ab09bc7f5717189434f97bbd9546e95',
      executor: '0xcd3f213ad101472e1713c72b1697e727c803885b',
      dvn: '0x23de2fe932d9043291f870324b74f820e11dc81a',
    },
    gasToken: { symbol: 'POL', decimals: 18 },
    explorer: 'https://polygonscan.com',
  },
  {
    label: '8453',
    name: 'Base',
    publicRpcUrls: ['https://mainnet.base.org'],
    genesisHash: '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
    eid: 30184,
    layerZero: {
      sendLibrary: '0xb5320b0b3a13cc860893e2bd79fcd7e13484dda2',
      receiveLibrary: '0xc70ab6f32772f59fbfc23889caf4ba3376c84baf',
      executor: '0x2cca08ae69e0c44b18a57ab2a87644234daebae4',
      dvn: '0x9e059a54699a285714207b43b055483e78faac25',
    },
    explorer: 'https://basescan.org',
  },
  {
    label: '17000',
    name: 'Holesky',
    publicRpcUrls: ['https://ethereum-holesky-rpc.publicnode.com'],
    genesisHash: '0xb5f7f912443c940f21fd611f12828d75b534364ed9e95ca4e307729a4661bde4',
    eid: 40217,
    endpoint: '0x6edce65403992e310a62460808c4b910d972f10f',
    layerZero: {
      sendLibrary: '0x21f33ecf7f65d61f77e554b4b4380829908cd076',
      receiveLibrary: '0xbae52d605770ad2f0d17533ce56d146c7c964a0d',
      executor: '0xbc0c24e6f24ec2f1fd7e859b8322a1277f80aad5',
      dvn: '0x3e43f8ff0175580f7644da043071c289ddf98118',
    },
    explorer: 'https://holesky.etherscan.io',
  },
  {
    label: '42161',
    name: 'Arbitrum One',
    publicRpcUrls: ['https://arb1.arbitrum.io/rpc'],
    genesisHash: '0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442',
    eid: 30110,
    layerZero: {
      sendLibrary: '0x975bcd720be66659e3eb3c0e4f1866a3020e493a',
      receiveLibrary: '0x7b9e184e07a6ee1ac23eae0fe8d6be2f663f05e6',
      executor: '0x31cae3b7fb82d847621859fb1585353c5720660d',
      dvn: '0x2f55c492897526677c5b68fb199ea31e2c126416',
    },
    explorer: 'https://arbiscan.io',
  },
  {
    label: '43114',
    name: 'Avalanche',
    publicRpcUrls: ['https://api.avax.network/ext/bc/C/rpc'],
    genesisHash: '0x31ced5b9beb7f8782b014660da0cb18cc409f121f408186886e1ca3e8eeca96b',
    eid: 30106,
    layerZero: {
      sendLibrary: '0x197d1333dea5fe0d6600e9b396c7f1b1cfcc558a',
      receiveLibrary: '0xbf3521d309642fa9b1c91a08609505ba09752c61',
      executor: '0x90e595783e43eb89ff07f63d27b8430e6b44bd9c',
      dvn: '0x962f502a63f5fbeb44dc9ab932122648e8352959',
    },
    gasToken: { symbol: 'AVAX', decimals: 18 },
    explorer: 'https://snowtrace.io',
  },
  {
    label: '81457',
    name: 'Blast',
    publicRpcUrls: ['https://rpc.blast.io'],
    eid: 30243,
    layerZero: {
      sendLibrary: '0xc1b621b18187f74c8f6d52a6f709dd2780c09821',
      receiveLibrary: '0x377530cda84dfb2673bf4d145dcf0c4d7fdcb5b6',
      executor: '0x4208d6e27538189bb48e603d6123a94b8abe0a0b',
      dvn: '0xc097ab8cd7b053326dfe9fb3e3a31a0cce3b526f',
    },
    explorer: 'https://blastscan.io',
  },
  {
    label: '98866',
    name: 'Plume',
    publicRpcUrls: ['https://rpc.plume.org'],
    eid: 30370,
    endpoint: '0xc1b15d3b262beec0e3565c11c9e0f6134bdacb36',
    layerZero: {
      sendLibrary: '0xfe7c30860d01e28371d40434806f4a8fcdd3a098',
      receiveLibrary: '0x5b19bd330a84c049b62d5b0fc2ba120217a18c1c',
      executor: '0x41bdb4aa4a63a5b2efc531858d3118392b1a1c3d',
      dvn: '0x4208d6e27538189bb48e603d6123a94b8abe0a0b',
    },
    gasToken: { symbol: 'PLUME', decimals: 18 },
    explorer: 'https://explorer.plume.org',
  },
  {
    label: '11155111',
    name: 'Sepolia',
    publicRpcUrls: ['https://11155111.rpc.thirdweb.com'],
    genesisHash: '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9',
    eid: 40161,
    endpoint: '0x6edce65403992e310a62460808c4b910d972f10f',
    layerZero: {
      sendLibrary: '0xcc1ae8cf5d3904cef3360a9532b477529b177cce',
      receiveLibrary: '0xdaf00f5ee2158dd58e0d3857851c432e34a3a851',
      executor: '0x718b92b5cb0a5552039b593faf724d182a881eda',
      dvn: '0x8eebf8b423b73bfca51a1db4b7354aa0bfca9193',
    },
    explorer: 'https://sepolia.etherscan.io',
  },
] as const

/** Address of LayerZero's EndpointV2 on the chains that define no other address. */
const LAYER_ZERO_ENDPOINT = '0x1a44076050125825900e736c501f859c50fe728c' as const

/** Public data of each EVM chain that has a label in the HTTP API. Labels are chain ids. */
export const CHAIN_PRESET_DATA = PUBLIC_CHAINS.map((chain) => ({
  endpoint: LAYER_ZERO_ENDPOINT,
  ...chain,
}))
