import type { Origin, Step } from './clusterSteps.js'

/**
 * A simple second implementation of the rules of clusters: no batches, no parts of moves, no bytes. Clusters and wallets are
 * numbers. Each step changes lists, and gives its refusal or its events.
 */
export interface ModelEntry {
  name: string
  isVerified: boolean
  isPrivate: boolean
  isBackedUp: boolean
  /** Steps at which it was added (in public, once it is public) and last changed. */
  added: number
  changed: number
}

export interface StepResult {
  refusal: string | null
  /** `TYPE cluster …` */
  events: string[]
  /** Published actor, where there are events. */
  actor: number | null
}

export class Model {
  readonly origins: Origin[] = []
  readonly clusters: Map<number, ModelEntry>[] = []
  /** Oldest registration first. */
  readonly names: { name: string; cluster: number; moved: number }[] = []

  /** The cluster in which a wallet is verified, -1 for none. */
  home(w: number): number {
    return this.clusters.findIndex((entries) => entries.get(w)?.isVerified)
  }

  /** True if a public entry of a cluster can't have this name because of the cluster's others. */
  protected isReserved(_c: number, _name: string): boolean {
    return false
  }

  held(c: number): string[] {
    return this.names.filter((held) => held.cluster === c).map((held) => held.name)
  }

  run(s: Step, at: number): StepResult {
    const before = this.home(s.w)
    const wasPublic = before >= 0 && !this.clusters[before]!.get(s.w)!.isPrivate
    const standIn = before >= 0 ? this.eldest(before) : null
    const events = this.act(s, at)
    if (typeof events === 'string') return { refusal: events, events: [], actor: null }
    const after = this.home(s.w)
    const isPublic = after >= 0 && !this.clusters[after]!.get(s.w)!.isPrivate
    return { refusal: null, events, actor: wasPublic || isPublic ? s.w : standIn }
  }

  /** A cluster's oldest public verified wallet. Wallets' addresses are in the order of their numbers. */
  eldest(c: number): number | null {
    const known = [...this.clusters[c]!].filter(([, entry]) => entry.isVerified && !entry.isPrivate)
    known.sort(([w, a], [x, b]) => a.added - b.added || w - x)
    return known[0]?.[0] ?? null
  }

  private act(s: Step, at: number): string[] | string {
    const home = this.home(s.w)
    const entries = this.clusters[home]
    switch (s.do) {
      case 'bid':
        return this.bid(s, at, home)
      case 'create':
        return entries ? [] : this.create(s.w, 'main', at)
      case 'add':
        return this.add(s, at, home)
      case 'rename': {
        if (!entries || s.items.some((item) => !entries.has(item.w))) return 'not_in_cluster'
        const after = new Map(entries)
        const renamed = s.items.filter((item) => entries.get(item.w)!.name !== item.name)
        for (const { w, name } of renamed) after.set(w, { ...entries.get(w)!, name, changed: at })
        const touched = renamed.map((item) => item.w)
        if (this.clash(home, after, touched)) return 'wallet_name_taken'
        this.clusters[home] = after
        return renamed
          .filter(({ w }) => !after.get(w)!.isPrivate)
          .map(({ w, name }) => `UPDATE_WALLET_NAME ${name} ${w} ${home}`)
      }
      case 'remove': {
        if (!entries) return 'not_in_cluster'
        const gone = s.ws.filter((w) => entries.has(w))
        const stay = [...entries].filter(([w]) => !gone.includes(w))
        const losesVerified = gone.some((w) => entries.get(w)!.isVerified)
        if (
          losesVerified &&
          this.held(home).length > 0 &&
          !stay.some(([, entry]) => entry.isVerified)
        )
          return 'last_verified_wallet'
        this.clusters[home] = new Map(stay)
        return gone
          .filter((w) => !entries.get(w)!.isPrivate)
          .map((w) => `REMOVE_WALLET ${w} ${home}`)
      }
      case 'verify':
        return this.verify(s.w, s.c, at, home)
      case 'backup': {
        const entry = entries?.get(s.of)
        if (!entry) return 'not_in_cluster'
        if (entry.isBackedUp) return []
        entries!.set(s.of, { ...entry, isBackedUp: true, changed: at })
        return entry.isPrivate ? [] : [`BACKUP_WALLET ${s.of} ${home}`]
      }
    }
  }

  private bid(s: Extract<Step, { do: 'bid' }>, at: number, home: number): string[] {
    if (this.names.some((held) => held.name === s.name)) return []
    const events: string[] = []
    let c = home
    if (c < 0) {
      events.push(...this.create(s.w, 'main', at))
      c = this.clusters.length - 1
    } else if (this.clusters[c]!.get(s.w)!.isPrivate) {
      const entry = this.clusters[c]!.get(s.w)!
      const taken = [...this.clusters[c]!.values()]
        .filter((other) => !other.isPrivate)
        .map((other) => other.name)
      let name = entry.name
      for (let n = 2; taken.includes(name) || this.isReserved(c, name); n++)
        name = `${entry.name.slice(0, 32 - `-${n}`.length)}-${n}`
      this.clusters[c]!.set(s.w, { ...entry, name, isPrivate: false, added: at, changed: at })
      events.push(`ADD_WALLET ${name} ${s.w} ${c} true ${entry.isBackedUp}`)
    }
    this.names.push({ name: s.name, cluster: c, moved: at })
    return [...events, `REGISTER_NAME ${s.name} ${c}`]
  }

  private create(w: number, name: string, at: number): string[] {
    const n = this.origins.filter((origin) => origin.creator === w).length
    this.origins.push({ creator: w, n })
    const entry = {
      name,
      isVerified: true,
      isPrivate: false,
      isBackedUp: false,
      added: at,
      changed: at,
    }
    this.clusters.push(new Map([[w, entry]]))
    const c = this.clusters.length - 1
    return [`CREATE_CLUSTER ${c}`, `ADD_WALLET ${name} ${w} ${c} true false`]
  }

  private add(s: Extract<Step, { do: 'add' }>, at: number, home: number): string[] | string {
    if (home >= 0) return this.addTo(s, at, home)
    const own = s.items.find((item) => item.w === s.w)
    if (own?.isPrivate) return 'already_public'
    const given = s.items.filter((item) => !item.isPrivate).map((item) => item.name)
    let name = own?.name ?? 'main'
    if (!own) for (let n = 2; given.includes(name); n++) name = `main-${n}`
    const events = this.create(s.w, name, at)
    const rest = this.addTo(s, at, this.clusters.length - 1)
    if (typeof rest !== 'string') return [...events, ...rest]
    this.clusters.pop()
    this.origins.pop()
    return rest
  }

  private addTo(s: Extract<Step, { do: 'add' }>, at: number, c: number): string[] | string {
    const after = new Map(this.clusters[c])
    const touched: number[] = []
    for (const { w, name, isPrivate: asked } of s.items) {
      const entry = after.get(w)
      const isPrivate = asked ?? entry?.isPrivate ?? false
      if (entry && !entry.isPrivate && isPrivate) return 'already_public'
      if (entry && entry.isPrivate === isPrivate) {
        if (entry.name !== name) return 'wallet_exists'
        continue
      }
      const fresh = { isVerified: false, isBackedUp: false, ...entry }
      after.set(w, { ...fresh, name, isPrivate, added: at, changed: at })
      touched.push(w)
    }
    if (this.clash(c, after, touched)) return 'wallet_name_taken'
    this.clusters[c] = after
    return touched.flatMap((w) => {
      const { name, isVerified, isPrivate, isBackedUp } = after.get(w)!
      return isPrivate ? [] : [`ADD_WALLET ${name} ${w} ${c} ${isVerified} ${isBackedUp}`]
    })
  }

  private verify(w: number, c: number, at: number, home: number): string[] | string {
    const target = this.clusters[c]
    if (!target) return 'not_found'
    const entry = target.get(w)
    if (!entry) return 'not_invited'
    if (home === c) return []
    const events: string[] = []
    if (home >= 0) {
      const old = this.clusters[home]!
      const own = old.get(w)!
      const isLast = ![...old].some(([x, other]) => x !== w && other.isVerified)
      const moving = isLast ? this.held(home) : []
      if (moving.length > 0 && (own.isPrivate || entry.isPrivate)) return 'names_would_reveal'
      old.delete(w)
      if (!own.isPrivate) events.push(`REMOVE_WALLET ${w} ${home}`)
      for (const held of this.names) {
        if (!moving.includes(held.name)) continue
        held.cluster = c
        held.moved = at
        events.push(`TRANSFER_NAME ${held.name} ${c} ${home}`)
      }
    }
    target.set(w, { ...entry, isVerified: true, changed: at })
    if (!entry.isPrivate) events.push(`VERIFY_WALLET ${w} ${c}`)
    return events
  }

  /** True if one of the wallets has a name that collides with another wallet's name. */
  private clash(
    c: number,
    entries: ReadonlyMap<number, ModelEntry>,
    touched: readonly number[],
  ): boolean {
    return touched.some((w) => {
      const { name, isPrivate } = entries.get(w)!
      if (!isPrivate && this.isReserved(c, name)) return true
      return [...entries].some(
        ([x, other]) => x !== w && other.name === name && (isPrivate || !other.isPrivate),
      )
    })
  }
}
