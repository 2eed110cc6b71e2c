/** Every component that pages have, with values as an application would show them. */
import type { PageNode } from '../../src/shared/pages/page-content.ts'
import type { PageTable, TableRow } from '../../src/shared/pages/page-table.ts'

const customers: readonly (readonly [string, string, string, number, string])[] = [
  ['Ashdown & Sons', 'ann@ashdown.example', 'active', 48_250, '2026-11-19T09:30:00Z'],
  ['Bellweather Ltd', 'office@bellweather.example', 'new', 1_200.5, '2026-11-18T16:05:00Z'],
  ['Café Morgenrot', 'hallo@morgenrot.example', 'active', 9_870, '2026-11-18T08:12:00Z'],
  ['Dunmore Freight', 'dispatch@dunmore.example', 'overdue', 132_004, '2026-11-14T11:47:00Z'],
  ['Eriksen Møbler', 'post@eriksen.example', 'pending', 0, '2026-11-11T13:20:00Z'],
  ['Faraday Instruments', 'sales@faraday.example', 'active', 75_310, '2026-11-09T10:00:00Z'],
  ['Greenhill School', '', 'lost', 640, '2026-10-30T07:55:00Z'],
  ['Hartmann Bau GmbH', 'info@hartmann.example', 'active', 220_900, '2026-10-28T15:41:00Z'],
]

const rows: readonly TableRow[] = customers.map(([name, email, state, amount, seen], at) => ({
  key: `c${at}`,
  href: `/customers/c${at}`,
  cells: [name, email, state, amount, seen],
}))

export const customerTable: PageTable = {
  kind: 'table',
  id: 'customers',
  caption: 'Customers',
  columns: [
    { field: 'name', label: 'Customer', format: 'text', sortHref: '?sort=-name', sorted: 'asc' },
    { field: 'email', label: 'E-mail', format: 'email', sortHref: '?sort=email' },
    { field: 'state', label: 'State', format: 'badge' },
    { field: 'amount', label: 'Revenue', format: 'currency', currency: 'EUR', sortHref: '?sort=amount' },
    { field: 'seen', label: 'Last contact', format: 'date_time', sortHref: '?sort=seen' },
  ],
  rows,
  total: 100_000,
  from: 1,
  to: 8,
  pages: {
    page: 1,
    count: 12_500,
    next: '?page=2',
    last: '?page=12500',
    numbers: [1, 2, 3, 12_500].map((page) => ({ page, href: `?page=${page}`, current: page === 1 })),
  },
  search: {
    action: '/gallery',
    hidden: [{ name: 'sort', value: 'name' }],
    inputs: [
      { name: 'q', label: 'Search', type: 'text', value: '', free: true },
      {
        name: 'state',
        label: 'State',
        type: 'choice',
        value: 'active',
        options: ['active', 'new', 'overdue'].map((value) => ({ value, label: value })),
      },
      { name: 'amount_from', label: 'Revenue from', type: 'number', value: '' },
      { name: 'seen_from', label: 'Last contact from', type: 'date', value: '' },
    ],
    active: true,
    clearHref: '/gallery',
  },
  columnChoice: {
    action: '/gallery',
    hidden: [],
    inputs: ['E-mail', 'State', 'Revenue', 'Last contact'].map((label, at) => ({
      name: 'columns',
      label,
      type: 'check',
      value: `column-${at}`,
      checked: true,
    })),
  },
  exportHref: '/gallery?export=csv',
  actions: {
    action: '/gallery',
    hidden: [{ name: '_token', value: 'token' }],
    row: [
      { name: 'archive', label: 'Archive', for: 'both' },
      {
        name: 'delete',
        label: 'Delete',
        for: 'both',
        tone: 'danger',
        confirm: 'Delete this customer and all of its contacts?',
      },
    ],
    rows: [
      { name: 'archive', label: 'Archive', for: 'both' },
      {
        name: 'delete',
        label: 'Delete',
        for: 'both',
        tone: 'danger',
        confirm: 'Delete the selected customers?',
      },
    ],
    rowName: '_row',
    rowsName: '_rows',
    bulkName: '_bulk',
  },
  live: true,
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov']

const figures: PageNode = {
  kind: 'columns',
  columns: [
    [{ kind: 'card', title: 'Open deals', figure: '42', note: '6 more than last month', content: [] }],
    [
      {
        kind: 'card',
        title: 'Expected this quarter',
        figure: '€318,400',
        note: '74 % of the goal',
        content: [],
      },
    ],
    [{ kind: 'card', title: 'Won this month', figure: '11', note: '3 of them new customers', content: [] }],
    [{ kind: 'card', title: 'Time to close', figure: '23 days', note: '2 days faster', content: [] }],
  ],
}

const charts: PageNode = {
  kind: 'columns',
  widths: [2, 1],
  columns: [
    [
      {
        kind: 'card',
        content: [
          {
            kind: 'chart',
            id: 'revenue',
            type: 'bar',
            title: 'Revenue by month',
            labels: months,
            series: [
              {
                name: '2025',
                values: [
                  31_000, 28_400, 36_200, 40_100, 39_000, 44_800, 41_200, 30_300, 46_000, 51_000, 49_400,
                ],
              },
              {
                name: '2026',
                values: [
                  36_500, 33_100, 41_800, 39_600, 47_200, 52_400, 48_800, 37_900, 55_100, 60_700, 58_300,
                ],
              },
            ],
            format: 'currency',
            currency: 'EUR',
          },
        ],
      },
    ],
    [
      {
        kind: 'card',
        content: [
          {
            kind: 'chart',
            id: 'sources',
            type: 'pie',
            title: 'Where deals come from',
            labels: ['Referral', 'Website', 'Fair', 'Phone'],
            series: [{ name: 'Deals', values: [48, 31, 14, 7] }],
          },
        ],
      },
    ],
  ],
}

const visits: PageNode = {
  kind: 'card',
  content: [
    {
      kind: 'chart',
      id: 'visits',
      type: 'line',
      title: 'Requests per day',
      labels: Array.from({ length: 20 }, (_, at) => `${at + 1} Nov`),
      series: [
        {
          name: 'Requests',
          values: [12, 18, 15, 22, 30, 11, 8, 26, 31, 29, null, 35, 40, 14, 9, 38, 44, 41, 47, 52],
        },
      ],
    },
  ],
}

export const formWithErrors: PageNode = {
  kind: 'form',
  id: 'customer',
  block: 'b1',
  label: 'Customer',
  action: '/gallery',
  hidden: [{ name: '_token', value: 'token' }],
  errors: [
    { input: 'f-name', message: 'Name: This is required.' },
    { input: 'f-email', message: 'E-mail: Enter an e-mail address, such as name@example.com.' },
  ],
  content: [
    {
      kind: 'input',
      id: 'f-name',
      name: 'name',
      label: 'Name',
      type: 'text',
      required: true,
      value: '',
      error: 'This is required.',
      autocomplete: 'organization',
    },
    {
      kind: 'input',
      id: 'f-email',
      name: 'email',
      label: 'E-mail',
      type: 'email',
      required: true,
      value: 'ann@',
      help: 'Invoices are sent there.',
      error: 'Enter an e-mail address, such as name@example.com.',
      autocomplete: 'email',
    },
    {
      kind: 'columns',
      columns: [
        [
          {
            kind: 'input',
            id: 'f-amount',
            name: 'amount',
            label: 'Budget',
            type: 'number',
            value: '1200.50',
            min: 0,
            step: 'any',
          },
        ],
        [
          {
            kind: 'input',
            id: 'f-since',
            name: 'since',
            label: 'Customer since',
            type: 'date',
            value: '2024-03-01',
          },
        ],
      ],
    },
    {
      kind: 'input',
      id: 'f-state',
      name: 'state',
      label: 'State',
      type: 'choice',
      required: true,
      value: 'active',
      options: [
        { value: 'new', label: 'New' },
        { value: 'active', label: 'Active' },
        { value: 'lost', label: 'Lost' },
      ],
    },
    {
      kind: 'input',
      id: 'f-interests',
      name: 'interests',
      label: 'Interests',
      type: 'choices',
      value: ['paper'],
      options: [
        { value: 'paper', label: 'Paper' },
        { value: 'ink', label: 'Ink' },
        { value: 'service', label: 'Service' },
      ],
    },
    {
      kind: 'input',
      id: 'f-notes',
      name: 'notes',
      label: 'Notes',
      type: 'area',
      value: 'Wants to be called in the morning.',
      help: 'Only your colleagues see this.',
    },
    {
      kind: 'input',
      id: 'f-contract',
      name: 'contract',
      label: 'Contract',
      type: 'file',
      accept: 'application/pdf',
      help: 'PDF, at most 10 MB.',
    },
    { kind: 'input', id: 'f-letters', name: 'letters', label: 'Send letters', type: 'check', value: true },
    { kind: 'button', label: 'Save customer', action: 'submit', name: '_click', value: 'save' },
    { kind: 'button', label: 'Cancel', action: 'link', href: '/customers' },
    {
      kind: 'button',
      label: 'Delete',
      action: 'action',
      tone: 'danger',
      name: '_click',
      value: 'delete',
      confirm: 'Delete this customer? It cannot be undone.',
    },
  ],
}

const person: PageNode = {
  kind: 'card',
  title: 'Ashdown & Sons',
  content: [
    {
      kind: 'detail',
      items: [
        { label: 'Contact', value: 'Ann Ashdown', format: 'text', href: '/contacts/1' },
        { label: 'E-mail', value: 'ann@ashdown.example', format: 'email' },
        { label: 'State', value: 'active', format: 'badge' },
        { label: 'Revenue', value: 48_250, format: 'currency', currency: 'EUR' },
        { label: 'Website', value: 'https://ashdown.example/', format: 'link' },
        { label: 'Next visit', value: '2026-12-03', format: 'date' },
        { label: 'Last contact', value: '2026-11-19T09:30:00Z', format: 'relative_time' },
        { label: 'Fax', value: null, format: 'text' },
      ],
    },
  ],
}

const activity: PageNode = {
  kind: 'card',
  title: 'Latest',
  content: [
    {
      kind: 'list',
      items: [
        [
          { kind: 'link', label: 'Offer 2026-118 sent', href: '/deals/118' },
          { kind: 'text', variant: 'muted', text: 'yesterday' },
        ],
        [
          { kind: 'link', label: 'Call with Ann Ashdown', href: '/contacts/1' },
          { kind: 'text', variant: 'muted', text: '3 days ago' },
        ],
        [
          { kind: 'text', text: 'Deal moved to negotiation' },
          { kind: 'text', variant: 'muted', text: 'last week' },
        ],
      ],
    },
    { kind: 'list', items: [], empty: 'No tasks are planned' },
  ],
}

const tabbed: PageNode = {
  kind: 'tabs',
  id: 'parts',
  label: 'Parts of the customer',
  tabs: [
    {
      label: 'Notes',
      content: [{ kind: 'text', text: 'Met at the fair in Leipzig.\n\nPrefers e-mail over phone calls.' }],
    },
    {
      label: 'Terms',
      content: [
        {
          kind: 'list',
          ordered: true,
          items: [
            [{ kind: 'text', text: 'Payment within 14 days' }],
            [{ kind: 'text', text: 'Delivery free of charge' }],
          ],
        },
      ],
    },
    { label: 'Code', content: [{ kind: 'text', variant: 'code', text: '{ "customer": "c0" }' }] },
  ],
}

const messages: readonly PageNode[] = [
  { kind: 'alert', tone: 'info', title: 'The import is under way', text: '12,400 of 30,000 rows are in.' },
  { kind: 'alert', tone: 'success', text: 'The customer was saved.' },
  { kind: 'alert', tone: 'warning', title: 'Three invoices are late', text: 'The oldest one by 41 days.' },
  {
    kind: 'alert',
    tone: 'danger',
    title: 'The nightly job failed',
    text: 'The mail server refused the connection.',
  },
]

const small: readonly PageNode[] = [
  { kind: 'badge', text: 'Neutral', tone: 'neutral' },
  { kind: 'badge', text: 'New', tone: 'info' },
  { kind: 'badge', text: 'Won', tone: 'success' },
  { kind: 'badge', text: 'Late', tone: 'warning' },
  { kind: 'badge', text: 'Lost', tone: 'danger' },
  {
    kind: 'modal',
    id: 'note',
    label: 'Add a note',
    title: 'New note',
    content: [
      {
        kind: 'form',
        id: 'note-form',
        block: 'b2',
        action: '/gallery',
        content: [
          { kind: 'input', id: 'n-text', name: 'text', label: 'Note', type: 'area', required: true },
          { kind: 'button', label: 'Add note', action: 'submit', name: '_click', value: 'note' },
        ],
      },
    ],
  },
]

/** A page of an application: figures, charts, a table. */
export const dashboard: readonly PageNode[] = [
  { kind: 'heading', level: 1, text: 'Overview' },
  figures,
  charts,
  customerTable,
]

/** Everything that {@link dashboard} does not show. */
export const gallery: readonly PageNode[] = [
  {
    kind: 'breadcrumb',
    links: [
      { label: 'Start', href: '/' },
      { label: 'Customers', href: '/customers' },
      { label: 'Ashdown & Sons', href: '/customers/c0' },
    ],
  },
  { kind: 'heading', level: 1, text: 'Ashdown & Sons' },
  { kind: 'text', variant: 'lead', text: 'Paper, ink and letterpress since 1911.' },
  {
    kind: 'navigation',
    label: 'Customer',
    links: [
      { label: 'Overview', href: '/gallery', current: true },
      { label: 'Contacts', href: '/contacts' },
      { label: 'Deals', href: '/deals' },
    ],
  },
  ...messages,
  ...small,
  { kind: 'columns', columns: [[person], [activity]] },
  { kind: 'heading', level: 2, text: 'Edit' },
  formWithErrors,
  { kind: 'heading', level: 2, text: 'More' },
  tabbed,
  visits,
  {
    kind: 'image',
    src: '/picture.svg',
    alt: 'A stack of paper',
    caption: 'The new paper',
    width: 320,
    height: 120,
  },
  {
    kind: 'table',
    id: 'none',
    caption: 'Invoices',
    columns: [],
    rows: [],
    empty: 'No invoices were written yet',
  },
]
