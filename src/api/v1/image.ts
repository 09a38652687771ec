import { nameImage } from '../../web/nameImage.js'
import { route } from '../http/route.js'
import { z } from '../http/schema.js'
import { requireName } from '../names/names.js'
import { nameText } from './schemas.js'

const TYPE = 'image/svg+xml'
/** Cache headers of a picture, which depends on its name alone. */
const CACHED = { 'cache-control': 'public, max-age=86400' } as const

const image = route({
  method: 'get',
  path: '/image/:name.svg',
  tag: 'Pictures',
  summary: 'The picture of a name',
  description: 'Drawn from the name alone, whether anybody holds it or not.',
  params: z.object({ name: nameText }),
  responses: { 200: { description: 'The picture', schema: z.string(), type: TYPE } },
  errors: ['invalid_name'],
  async handle({ params }) {
    const text = nameImage(requireName(params.name!))
    return { status: 200, content: { type: TYPE, text }, headers: CACHED }
  },
})

export const imageRoutes = [image]
