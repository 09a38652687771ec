import { useState } from 'preact/hooks'
import { amountText, findChain, parseAmount, priceText } from '../lib/format.js'
import type { Chain, Community } from '../lib/types.js'
import { chainNameWithGasToken, Form, type FormValues, Input, Select } from './pieces.js'
import { type Account, payableChains, useAccount } from './state.js'

/** Value of the form field "who may register". */
function registrantsOf(rules: Community | null, isPriceShown: boolean): string {
  if (rules?.ownersOnly) return 'owners'
  if (!rules?.prices.length) return 'free'
  return isPriceShown ? 'paid' : 'kept'
}

/**
 * Form for the rules of a name as a community. It starts with the current rules, so pressing the button changes
 * nothing.
 */
export function RulesForm({ name, rules, onSet }: RulesFormProps) {
  const account = useAccount()
  const [chosen, setChosen] = useState<string | null>(null)
  const chains = payableChains(account)
  const price = rules?.prices.length === 1 ? rules.prices[0] : undefined
  const chain = findChain(chains, price?.network)
  // the form can edit only one kind of price; other prices can only be kept
  const isShown =
    chain !== undefined && price?.token === 'native' && price.recipient === account.session?.address
  const who = registrantsOf(rules, isShown)
  const set = async (typed: FormValues) => {
    onSet(await setRules(account, name, rules, typed))
    // keep the form as it is: after a reset, a double click would submit the initial values
    return false
  }
  const kept = `Everybody who pays, by the ${rules?.prices.length} price(s) as they are`
  const options = Object.entries({
    ...(who === 'kept' && { kept }),
    free: 'Everybody, free',
    ...(chains.length > 0 && { paid: 'Everybody who pays' }),
    owners: 'Only wallets of my cluster, for others too',
  })
  return (
    <Form label={`Rules of ${name}`} work={set} submit="Set the rules">
      {!rules && (
        <p class="soft">
          Not a community yet: nobody gets a name below {name}/ before you set rules.
        </p>
      )}
      <Select
        label="Who may register"
        name="who"
        options={options}
        chosen={who}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
      {(chosen === null || chosen === 'kept' ? who : chosen) === 'paid' && (
        <>
          <Input
            label="Price"
            hint="It goes to your wallet"
            name="amount"
            inputMode="decimal"
            placeholder="0.001"
            autocomplete="off"
            defaultValue={isShown ? amountText(price.amount, chain.gasToken.decimals) : ''}
          />
          <Select
            label="Paid on"
            name="chain"
            options={chains.map((one) => [one.network, chainNameWithGasToken(one)])}
            chosen={chain?.network}
          />
        </>
      )}
      {(rules?.requirements.length || rules?.startsAt) && (
        <p>Its requirements and its start stay as they are.</p>
      )}
    </Form>
  )
}

interface RulesFormProps {
  name: string
  /** Null for a name that is not a community. */
  rules: Community | null
  onSet(rules: Community): void
}

async function setRules(
  account: Account,
  name: string,
  rules: Community | null,
  typed: FormValues,
): Promise<Community> {
  const who = typed('who')
  const chain = findChain(payableChains(account), typed('chain'))
  if (who === 'paid' && !chain) throw new Error('Choose the chain.')
  const paid = who === 'paid' ? [priceOf(account, typed('amount'), chain!)] : []
  const body = {
    ownersOnly: who === 'owners',
    prices: who === 'kept' ? rules?.prices : paid,
    startsAt: rules?.startsAt,
    requirements: rules?.requirements,
  }
  const set = await account.send<Community>(`/v1/communities/${name}`, { method: 'PUT', body })
  await account.reload()
  const price = set.prices[0]
  const priced = findChain(payableChains(account), price?.network)
  const asked = price ? `for ${priceText(price, priced)}` : 'free'
  account.say(
    set.ownersOnly
      ? `Your cluster registers names below ${name}.`
      : `Names below ${name} are ${asked} now.`,
  )
  return set
}

/** Price in the gas token of a chain, to be paid to the signed-in wallet. */
const priceOf = ({ session }: Account, units: string, { network, gasToken }: Chain) => ({
  network,
  token: 'native',
  amount: parseAmount(units, gasToken.decimals),
  recipient: session?.address,
})
