/** By number in the database; never renumber. `open`: its distributor is watched. `ended`: no claim can come any more. */
const STATES = ['loaded', 'open', 'ended'] as const
export type AirdropState = (typeof STATES)[number]
export const airdropStateCode = (state: AirdropState): number => STATES.indexOf(state)
export const airdropStateOf = (code: number): AirdropState => STATES[code]!
