/**
 * Public factories of smart wallets, which a signature of a wallet that is not deployed yet may name (ERC-6492). The
 * comments name the file of the npm package that has the address (viem 2.57.20, permissionless 0.4.1).
 */
export const PUBLIC_WALLET_FACTORIES = [
  // Coinbase Smart Wallet 1.1 and 1: viem, account-abstraction/accounts/implementations/toCoinbaseSmartAccount.ts
  '0xba5ed110efdba3d005bfc882d75358acbbb85842',
  '0x0ba5ed0c6aa8c49038f819e587e2633c4a9f428a',
  // Solady: viem, account-abstraction/accounts/implementations/toSoladySmartAccount.ts
  '0x5d82735936c6cd5de57cc3c1a799f6b2e6f933df',
  // Safe 1.4.1 and 1.5.0: npm's permissionless, accounts/safe/toSafeSmartAccount.ts
  '0x4e1dcf7ad4e460cfd30791ccc4f9c8a4f820ec67',
  '0x14f2982d601c9458f93bd70b218933a6f8165e7b',
  // Kernel 0.2, 0.3.0, 0.3.1, 0.3.2, 0.3.3, and its meta factory: npm's permissionless,
  // accounts/kernel/toKernelSmartAccount.ts
  '0x5de4839a76cf55d0c90e2061ef4386d962e15ae3',
  '0x6723b44abeec4e71ebe3232bd5b455805badd22f',
  '0xaac5d4240af87249b3f71bc8e4a2cae074a3e419',
  '0x7a1dbab750f12a90eb1b60d2ae3ad17d4d81effe',
  '0x2577507b78c2008ff367261cb6285d44ba5ef2e9',
  '0xd703aae79538628d27099b8c4f621be4ccd142d5',
  // Light Account 1.1.0 and 2.0.0: npm's permissionless, accounts/light/toLightSmartAccount.ts
  '0x00004ec70002a32400f8ae005a26081065620d20',
  '0x0000000000400cdfef5e2714e63d8040b700bc24',
  // SimpleAccount for EntryPoint 0.8, 0.7 and 0.6: npm's permissionless, accounts/simple/toSimpleSmartAccount.ts
  '0x13e9ed32155810fdbd067d4522c492d6f68e5944',
  '0x91e60e0613810449d098b0b5ec8b51a0fe8c8985',
  '0x9406cc6185a346906296840746125a0e44976454',
  // Nexus: npm's permissionless, accounts/nexus/toNexusSmartAccount.ts
  '0x00000bb19a3579f4d779215def97afbd0e30db55',
  // Biconomy 2: npm's permissionless, accounts/biconomy/toBiconomySmartAccount.ts
  '0x000000a56aaca3e9a4c479ea6b6cd0dbcb6634f5',
  // Etherspot: npm's permissionless, accounts/etherspot/constants.ts
  '0x2a40091f044e48deb5c0fcbc442e443f3341b451',
  // thirdweb for EntryPoint 0.6 and 0.7: npm's permissionless, accounts/thirdweb/toThirdwebSmartAccount.ts
  '0x85e23b94e7f5e9cc1ff78bce78cfb15b81f0df00',
  '0x4be0ddfebca9a5a4a617dee4dece99e7c862dceb',
  // Trust Wallet (Barz): npm's permissionless, accounts/trust/toTrustSmartAccount.ts
  '0x729c310186a57833f622630a16d13f710b83272a',
] as const
