import type { SeenPage } from '../../page-visitor.ts'
import { type DealsFixture, MARGIN } from './deals-fixture.ts'
import { type Door, type DoorName, type Role, readsOnly } from './door.ts'

export function pageDoors(fixture: DealsFixture) {
  const visit = async (path: string, as: Role) => (await fixture.visitor(as)).get(path)
  const shown = ({ html }: SeenPage) =>
    [...new Set([...html.matchAll(/deal (\d)/g)].map(([, n]) => Number(n)))].sort()
  const hasMargin = ({ html }: SeenPage) =>
    html.replaceAll(/[\s,.\u202f\u00a0]/g, '').includes(String(MARGIN))

  /** Chooses an action for a row, also for one that the table does not show. */
  async function act(as: Role, action: string, n: number): Promise<number> {
    return submit(as, '/deals', 't', { _row: `${action} ${fixture.deal(n)}` })
  }

  /**
   * Fills in a form. Where the page leaves it out, because what it does would be refused, it is sent as the administrator has it, with
   * what proves that it comes from a page of this visitor.
   */
  async function submit(
    as: Role,
    path: string,
    id: string,
    values: Readonly<Record<string, string>>,
  ): Promise<number> {
    const visitor = await fixture.visitor(as)
    const page = await visitor.get(path)
    if (page.status !== 200) return page.status
    if (page.has(id)) return (await visitor.submit(page, id, values)).status
    const { fields } = (await visit(path, 'admin')).form(id)
    const token = page.has('signout')
      ? page.form('signout').fields.find(([name]) => name === '_csrf')
      : undefined
    const forged = { ...Object.fromEntries(fields), ...values, ...(token && { _csrf: token[1] }) }
    return (await visitor.post(path, forged)).status
  }

  async function make(as: Role, values: Readonly<Record<string, string>>): Promise<number> {
    return submit(as, '/deals', 'make', { n: '16', title: 'new', ...values })
  }

  async function send(as: Role, n: number, form: string): Promise<number> {
    return submit(as, `/deals/${fixture.deal(n)}`, form, { title: 'changed' })
  }

  /** Of the files whose addresses the page shows, what they hold, as their addresses give it. */
  async function files(as: Role): Promise<readonly string[]> {
    const visitor = await fixture.visitor(as)
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
        const pages = await Promise.all(ofForms.map((n) => visit(`/deals/${fixture.deal(n)}`, as)))
        return ofForms.filter((_n, at) => pages[at]?.status === 200)
      },
      hidden: async (as) => {
        const pages = await Promise.all(ofForms.map((n) => visit(`/deals/${fixture.deal(n)}`, as)))
        return pages.some(hasMargin)
      },
      create: (as, owner) => make(as, { owner }),
      set: (as) => make(as, { owner: fixture.user(as), approved: 'yes' }),
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
