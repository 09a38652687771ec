import { NAME_RULE } from '../../../registry/primitives/nameRule.js'
import { find, nameIn } from '../../paths.js'
import { useAsked, useNet, useTitle } from '../lib/net.js'
import { Link, Loaded } from '../parts/basics.js'
import { pathOf, Search } from '../parts/search.js'

/** A path or a search without a page: says what the text was taken for, and how to go on. */
export function NotFound({ text }: { text: string }) {
  const name = nameIn(text)
  useTitle('Not found')
  return (
    <div class="hero">
      <h1>There is no such page</h1>
      <p class="soft">
        “{text}” is no address that is known here, no transaction, and no name: a name has{' '}
        {NAME_RULE}.
      </p>
      {name && (
        <p>
          <Link to={`/${name}`}>Look up {name}/</Link>
        </p>
      )}
      <Search isLarge />
    </div>
  )
}

/** A hash or an address in the place of a name: leads to its page. */
export function Lookup({ text }: { text: string }) {
  const { get, go } = useNet()
  const asked = useAsked(text, async () => go(await pathOf(find(text)!, get), true))
  return <Loaded asked={asked}>{() => null}</Loaded>
}
