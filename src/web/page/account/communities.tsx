import { useLocation } from 'preact-iso/router'
import { amountOf, chainName, short } from '../lib/format.js'
import { CLUSTER_NAME_RULES, TYPED } from '../lib/names.js'
import { useAsked } from '../lib/net.js'
import type { Chain, Community, Payout, Price, Registration } from '../lib/types.js'
import { Card } from '../parts/basics.js'
import { Action, chainText, Field, FollowedList, Form, priceText } from './pieces.js'
import { type Account, ownNames, payable, useAccount } from './state.js'

/** `/@communities`: names below communities, and communities of the wallet's own names. */
export function Communities() {
  const account = useAccount()
  const { query } = useLocation()
  const join = (data: FormData) =>
    account.attempt(() => joinCommunity(account, String(data.get('community')), String(data.get('member'))))
  return (
    <>
      <Card title="Get a name in a community">
        <Form label="Register a name below a community" work={join}>
          <Field label="Community">
            <input {...CLUSTER_NAME_RULES} name="community" defaultValue={query.community} />
          </Field>
          <Field label="Your name there" hint="Free, or paid on the chain that the community names">
            <input {...CLUSTER_NAME_RULES} name="member" defaultValue={query.community ? query.name : ''} />
          </Field>
          <button type="submit">Get it</button>
        </Form>
        <FollowedList />
      </Card>
      {ownNames(account).map((name) => (
        <Own key={name} name={name} />
      ))}
    </>
  )
}

async function joinCommunity(account: Account, input: string, member: string): Promise<boolean> {
  const community = input.replace(/\/$/, '').toLowerCase()
  const { prices } = await account.send<Community>(`/v1/communities/${encodeURIComponent(community)}`)
  const chains = payable(account)
  // without a price that the wallet can pay, the service explains why
  const price = prices.find(({ network }) => chains.some((chain) => chain.network === network))
  const body = { name: member, ...(price && { network: price.network }) }
  const made = await account.send<Registration>(`/v1/names/community/${community}/register`, { body })
  if (made.transactionInfo && made.price) return payName(account, made, made.price)
  await account.reload()
  account.say(`${made.clusterName} is yours.`)
  return true
}

async function payName(account: Account, made: Registration, price: Price): Promise<boolean> {
  const { clusterName, transactionInfo: info } = made
  const chain = payable(account).find(({ network }) => network === price.network)
  if (!chain || !info || account.session?.type !== info.type)
    throw new Error('This community takes no payment from your wallet.')
  const text = `It costs ${priceText(price, chain)} and gas, paid on ${chainText(chain)} to ${short(price.recipient)}. What buys nothing can be taken back.`
  if (!(await account.confirmed({ title: `Register ${clusterName}?`, text, yes: 'Pay' }))) return false
  const tx =
    info.type === 'evm'
      ? await account.pay(chain, info.transaction, info.approvalReset, info.approval)
      : await account.pay(chain, info.transaction.data)
  account.follow(clusterName, tx)
  return true
}

/** A name of the wallet's cluster as a community: rules, gifts, earnings. */
function Own({ name }: { name: string }) {
  const account = useAccount()
  const chains = payable(account)
  const give = (data: FormData) =>
    account.attempt(async () => {
      const body = { name: data.get('name'), walletAddress: String(data.get('wallet')).trim() }
      const made = await account.send<Registration>(`/v1/names/community/${name}/register`, { body })
      await account.reload()
      account.say(`${made.clusterName} belongs to ${short(made.owner)} now.`)
    })
  const rule = async (data: FormData) => {
    await account.attempt(() => setRules(account, name, data))
    // what was set stays there: after a reset the next press, as of a double click, would make it free
    return false
  }
  return (
    <Card title={`${name}/ as a community`}>
      <div class="columns">
        <Form label={`Rules of ${name}`} work={rule}>
          <Field label="Who may register">
            <select name="who">
              <option value="free">Everybody, free</option>
              {chains.length > 0 && <option value="paid">Everybody who pays</option>}
              <option value="owners">Only wallets of my cluster, for others too</option>
            </select>
          </Field>
          <Field label="Price" hint="It goes to your wallet; only for “everybody who pays”">
            <input name="amount" inputMode="decimal" placeholder="0.001" autocomplete="off" />
          </Field>
          <Field label="Paid on">
            <select name="chain">
              {chains.map((chain) => (
                <option key={chain.network} value={chain.network}>
                  {chainText(chain)}
                </option>
              ))}
            </select>
          </Field>
          <button type="submit">Set the rules</button>
        </Form>
        <div>
          <Form label={`Register for somebody below ${name}`} work={give}>
            <Field label="Register for somebody: name">
              <input {...CLUSTER_NAME_RULES} name="name" />
            </Field>
            <Field label="Wallet">
              <input {...TYPED} name="wallet" />
            </Field>
            <button type="submit" class="plain">
              Give it
            </button>
          </Form>
          <Payouts name={name} />
        </div>
      </div>
    </Card>
  )
}

async function setRules(account: Account, name: string, data: FormData): Promise<void> {
  const who = data.get('who')
  const chain = payable(account).find(({ network }) => network === data.get('chain'))
  const prices = who === 'paid' && chain ? [priceOf(account, String(data.get('amount')), chain)] : []
  const rules = { ownersOnly: who === 'owners', prices }
  const set = await account.send<Community>(`/v1/communities/${name}`, { method: 'PUT', body: rules })
  await account.reload()
  const asked = set.prices[0] && chain ? `for ${priceText(set.prices[0], chain)}` : 'free'
  account.say(set.ownersOnly ? `Your cluster registers names below ${name}.` : `Names below ${name} are ${asked} now.`)
}

/** Price in the gas token of a chain, to be paid to the signed-in wallet. */
const priceOf = ({ session }: Account, units: string, { network, gasToken }: Chain) => ({
  network,
  token: 'native',
  amount: amountOf(units, gasToken.decimals),
  recipient: session?.address,
})

/** What a community has earned and not taken yet. */
function Payouts({ name }: { name: string }) {
  const account = useAccount()
  const key = `${name} ${account.isTestnet} ${account.followed.length}`
  const asked = useAsked<{ payouts: Payout[] }>(key, () => account.send(`/v1/communities/${name}/payouts`))
  const payouts = asked.data?.payouts ?? []
  return (
    <ul class="rows">
      {payouts.map((payout) => {
        const chain = account.chains.find(({ network }) => network === payout.network)
        const isMine = payout.recipient === account.session?.address
        const take = () =>
          account.attempt(async () => {
            await account.pay(chain!, payout.transaction!)
            account.say('Sent. The money is yours once the chain has confirmed it.')
          })
        return (
          <li key={`${payout.network} ${payout.recipient} ${payout.token}`}>
            <span>
              Earned: {chain ? priceText(payout, chain) : payout.amount} on {chainName(payout.network)}
            </span>
            {isMine && chain && payout.transaction && <Action work={take}>Take it</Action>}
          </li>
        )
      })}
    </ul>
  )
}
