import type { SeenPage } from '../../page-visitor.ts'
import { type DealsRoom, MARGIN } from './deals-room.ts'
import { type Door, type DoorName, type Role, readsOnly } from './door.ts'

export function pageDoors(room: DealsRoom) {
  const visit = async (path: string, as: Role) => (await room.visitor(as)).get(path)
  const shown = ({ html }: SeenPage) =>
    [...new Set([...html.matchAll(/deal (\d)/g)].map(([, n]) => Number(n)))].sort()
  const hasMargin = ({ html }: SeenPage) =>
    html.replaceAll(/[\s,.\u202f\u00a0]/g, '').includes(String(MARGIN))

  /** Chooses an action for a row, also for one that the table does not show. */
  async function act(as: Role, action: string, n: number): Promise<number> {
    const visitor = await room.visitor(as)
    const page = await visitor.get('/deals')
    // A table without rows has no form; one of the page is made to one of the table.
    const hasRows = shown(page).length > 0
    const forged = hasRows ? {} : { _form: undefined, _table: 't' }
    const chosen = { ...forged, _row: `${action} ${room.deal(n)}` }
    return (await visitor.submit(page, hasRows ? 't' : 'make', chosen)).status
  }

  async function make(as: Role, values: Readonly<Record<string, string>>): Promise<number> {
    const visitor = await room.visitor(as)
    const given = { n: '16', title: 'new', ...values }
    return (await visitor.submit(await visitor.get('/deals'), 'make', given)).status
  }

  async function send(as: Role, n: number, form: string): Promise<number> {
    const visitor = await room.visitor(as)
    const page = await visitor.get(`/deals/${room.deal(n)}`)
    return page.status === 200 ? (await visitor.submit(page, form, { title: 'changed' })).status : page.status
  }

  /** Of the files whose addresses the page shows, what they hold, as their addresses give it. */
  async function files(as: Role): Promise<readonly string[]> {
    const visitor = await room.visitor(as)
    const { html } = await visitor.get('/deals')
    const addresses = [...html.matchAll(/\/_pages\/files\/[^"?]+/g)].map(([address]) => address)
    const seen = await Promise.all([...new Set(addresses)].map((address) => visitor.get(address)))
    return seen.map(({ html: content }) => content.replace('.txt', ''))
  }

  const ofForms = [1, 2, 4, 8]
  return {
    tables: {
      see: async (as) => shown(await visit('/deals', as)),
      hidden: async (as) => hasMargin(await visit('/deals', as)),
      create: 'Its actions are for rows that are there.',
      set: 'Its actions are for rows that are there.',
      change: (as, n) => act(as, 'name', n),
      remove: (as, n) => act(as, 'drop', n),
    },
    'exports of tables': {
      ...readsOnly,
      see: async (as) => shown(await visit('/deals?_export=t', as)),
      hidden: async (as) => hasMargin(await visit('/deals?_export=t', as)),
    },
    forms: {
      see: async (as) => {
        const pages = await Promise.all(ofForms.map((n) => visit(`/deals/${room.deal(n)}`, as)))
        return ofForms.filter((_n, at) => pages[at]?.status === 200)
      },
      hidden: async (as) => {
        const pages = await Promise.all(ofForms.map((n) => visit(`/deals/${room.deal(n)}`, as)))
        return pages.some(hasMargin)
      },
      create: (as, owner) => make(as, { owner }),
      set: (as) => make(as, { owner: room.user(as), approved: 'yes' }),
      change: (as, n) => send(as, n, 'edit'),
      remove: (as, n) => send(as, n, 'end'),
    },
    files: {
      see: async (as) =>
        (await files(as)).flatMap((name) => (name.startsWith('scan ') ? [Number(name.slice(5))] : [])).sort(),
      hidden: async (as) => (await files(as)).some((name) => name.startsWith('contract')),
      create: 'A file is stored by the form that it is sent with.',
      set: 'A file is stored by the form that it is sent with.',
      change: 'A file is not changed.',
      remove: 'A file goes with what holds it.',
    },
  } as const satisfies Partial<Record<DoorName, Door>>
}
