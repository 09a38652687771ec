import { readNextItems, useListParts } from '../lib/lists.js'
import { Card, LoadedList, NameList } from './basics.js'

/** Number of communities in a part of the list. */
const COMMUNITIES_PART_SIZE = 20

/** Every community of the network, by name. */
export function CommunityList() {
  const list = useListParts<{ name: string }>('communities', (known, get) =>
    readNextItems('/v1/communities', COMMUNITIES_PART_SIZE, known, get),
  )
  return (
    <Card title="Communities">
      <p class="soft">Each of these names has others below it. Its page says who may get one.</p>
      <LoadedList {...list} empty="No name is a community yet.">
        {(names) => <NameList names={names} />}
      </LoadedList>
    </Card>
  )
}
