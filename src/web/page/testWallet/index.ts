import { PAYER_ADDRESS_TYPE_NAMES, type PayerAddressType } from '../../../registry/families.js'
import type { TestWalletAccounts } from './accounts.js'
import { evmTestWalletAccounts } from './evm.js'
import { solanaTestWalletAccounts } from './solana.js'

/** Accounts of the test wallet of a local world (a test network on one machine), by type. Their keys are public. */
const ACCOUNTS_BY_TYPE: Readonly<Partial<Record<PayerAddressType, TestWalletAccounts>>> = {
  evm: evmTestWalletAccounts,
  solana: solanaTestWalletAccounts,
}

/** Creates the selector of the test wallet's accounts of one type, and announces the wallet to the page. */
function createAccountSelector(
  type: PayerAddressType,
  { addresses, first, announce }: TestWalletAccounts,
): HTMLElement {
  const item = `test-wallet.${type}`
  const stored = sessionStorage.getItem(item) ?? first
  const label = document.createElement('label')
  const select = document.createElement('select')
  select.name = type
  for (const [i, address] of addresses.entries()) {
    const isChosen = address === stored
    select.append(new Option(`Account ${i} · ${address}`, address, isChosen, isChosen))
  }
  select.addEventListener('change', () => sessionStorage.setItem(item, select.value))
  announce(() => select.value)
  label.append(`${PAYER_ADDRESS_TYPE_NAMES[type]} `, select)
  return label
}

const TEST_WALLET_CSS = `
  test-wallet { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: center;
    padding: 0.5rem 1rem; border-bottom: 3px dashed #e7a866; background: #3a2408; color: #fff; font: 0.875rem/1.4 system-ui, sans-serif }
  test-wallet label { max-width: 100% }
  test-wallet select { min-height: 0; max-width: 100%; padding: 0.25rem; color: #fff; background: #5b3a12; border-color: #e7a866 }
`
const styleSheet = new CSSStyleSheet()
styleSheet.replaceSync(TEST_WALLET_CSS)
document.adoptedStyleSheets.push(styleSheet)
const testWalletBar = document.createElement('test-wallet')
testWalletBar.setAttribute('role', 'complementary')
testWalletBar.setAttribute('aria-label', 'Test wallet')
const testWalletTitle = document.createElement('strong')
testWalletTitle.textContent = 'Test wallet of the local world'
testWalletBar.append(testWalletTitle)
for (const [type, accounts] of Object.entries(ACCOUNTS_BY_TYPE)) {
  if (accounts.addresses.length === 0) continue
  testWalletBar.append(createAccountSelector(type as PayerAddressType, accounts))
}
document.body.prepend(testWalletBar)
