/** Fields and rules of a storage: their forms, what is wrong shown where it is typed, and what a change does to stored values. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('the form of a field: what it shows for a type, and what it sends', () => {
  beforeAll(async () => {
    await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' })
    await page.goto('data/fields?open=new')
  })

  const dialog = () => page.getByRole('dialog')
  const fill = (label: string, text: string) => dialog().getByLabel(label, { exact: true }).fill(text)
  async function choose(label: string, option: string): Promise<void> {
    await dialog().getByRole('combobox', { name: label }).click()
    await page.getByRole('option', { name: option, exact: true }).click()
  }

  test('a choice with a label, that is unique without regard to case', async () => {
    await dialog().waitFor()
    await dialog().getByRole('textbox', { name: 'Name' }).fill('size')
    await choose('Type', 'Choice')
    await choose('Storage', 'goods')
    await fill('Label', 'Size of the box')
    await fill('Help', 'As printed on the box.')
    await fill('Order', '2')
    for (const choice of ['S', 'M']) {
      await dialog().getByRole('combobox', { name: 'Choices' }).fill(choice)
      await page.keyboard.press('Enter')
    }
    await dialog().getByRole('switch', { name: 'Unique' }).check()
    await dialog().getByRole('switch', { name: 'Ignore case' }).check()
    await settled(page)
    await expectNoProblem(page, 'the form of a field')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await studio.quoin.manage('POST', '/blueprintfields/search', {})).toMatchObject([
      {
        ...{ name: 'size', type: 'choice', storage: 'goods', label: 'Size of the box', order: 2 },
        ...{ help: 'As printed on the box.', validation_rules: { choices: ['S', 'M'] } },
        unique: { ignore_case: true },
      },
    ])
    expect(studio.complaints()).toEqual([])
  })

  test('an expression that cannot be used is named beside its input', async () => {
    await goWithin(page, 'data/fields?open=new')
    await dialog().waitFor()
    await dialog().getByRole('textbox', { name: 'Name' }).fill('total')
    await choose('Type', 'Decimal')
    await choose('Storage', 'goods')
    await fill('Computed as', 'price * 2')
    expect(await dialog().getByLabel('Default', { exact: true }).count()).toBe(0)
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().getByText('There is no name price').first().waitFor()
    await fill('Computed as', 'doc.price * 2')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().waitFor({ state: 'detached' })
  })

  test('what is typed into the line that adds a field is in its form', async () => {
    await goWithin(page, 'data')
    await page.getByRole('link', { name: 'goods', exact: true }).first().click()
    await page.getByRole('tab', { name: 'Fields' }).click()
    await page.getByLabel('New field').fill('maker')
    await page.getByRole('button', { name: 'More settings' }).click()
    expect(await dialog().getByRole('textbox', { name: 'Name' }).inputValue()).toBe('maker')
    await choose('Type', 'Reference')
    await choose('Refers to', 'goods')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await page.getByRole('table').getByText('maker', { exact: true }).waitFor()
    expect(await page.getByLabel('New field').inputValue()).toBe('')
    expect(studio.complaints()).toEqual([])
  })

  test('typing and Enter choose the type, and what it needs is beside it', async () => {
    const begin = async (name: string, type: string) => {
      await page.getByLabel('New field').fill(name)
      await page.keyboard.press('Tab')
      await page.keyboard.type(type)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
    }
    const added = (name: string) => page.getByRole('table').getByText(name, { exact: true }).waitFor()
    await begin('box', 'ref')
    await page.keyboard.type('goo')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await added('box')
    await begin('price', 'curr')
    await page.keyboard.type('usd')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await added('price')
    await page.getByRole('table').getByText('Money', { exact: true }).waitFor()
    await begin('state', 'sev')
    await page.keyboard.type('open,done,')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await added('state')
    const fields = await studio.quoin.manage('POST', '/blueprintfields/search', {})
    expect(fields).toContainEqual(
      expect.objectContaining({
        name: 'box',
        type: 'reference',
        reference: { storage: 'goods', on_delete: 'refuse' },
      }),
    )
    expect(fields).toContainEqual(
      expect.objectContaining({ name: 'price', type: 'decimal', validation_rules: { currency: 'USD' } }),
    )
    expect(fields).toContainEqual(
      expect.objectContaining({
        name: 'state',
        type: 'choices',
        validation_rules: { choices: ['open', 'done'] },
      }),
    )
    expect(studio.complaints()).toEqual([])
  })

  test('Enter on what fits nothing neither closes the dialog nor saves the type chosen before', async () => {
    await page.getByRole('button', { name: 'More settings' }).click()
    const type = dialog().getByRole('combobox', { name: 'Type' })
    await type.click()
    await page.keyboard.type('zebra')
    await page.getByText('Nothing found').waitFor()
    await page.keyboard.press('Enter')
    expect(await dialog().count()).toBe(1)
    await type.fill('day')
    await page.keyboard.press('Enter')
    expect(await type.inputValue()).toBe('Date')
    expect(await dialog().count()).toBe(1)
    expect(studio.complaints()).toEqual([])
  })
})

describe('rules: a mistake is shown at its rule with its column, and what fits is stored', () => {
  let storage: string

  beforeAll(async () => {
    storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'deals' }))
    await page.goto('data')
  })

  const rules = async () => objectOf(await studio.quoin.manage('GET', `/_system/storages/${storage}`)).rules

  test('a wrong rule is named with its column, a right one is stored, an empty one is none', async () => {
    const open = async () => {
      await page.getByRole('button', { name: 'More about deals' }).click()
      await page.getByRole('menuitem', { name: 'Rules' }).click()
      await page.getByRole('dialog').waitFor()
    }
    await open()
    const see = page.getByRole('textbox', { name: 'See' })
    await see.fill('doc.title.length > 3')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('dialog')
      .getByText(/column \d+/)
      .first()
      .waitFor()
    await settled(page)
    await expectNoProblem(page, 'a rule that cannot be used')
    expect(await rules()).toBeNull()

    await see.fill('doc.owner == user.guid')
    await page.getByRole('textbox', { name: 'Change' }).fill('doc.owner == user.guid && doc.locked != true')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await rules()).toEqual({
      see: 'doc.owner == user.guid',
      change: 'doc.owner == user.guid && doc.locked != true',
    })

    await open()
    await eventually(() => see.inputValue()).toBe('doc.owner == user.guid')
    for (const name of ['See', 'Change']) await page.getByRole('textbox', { name }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await rules()).toBeNull()
  })

  test('a constraint with its message and field is added beside the permissions, and removed', async () => {
    const constraints = async () =>
      objectOf(await studio.quoin.manage('GET', `/_system/storages/${storage}`)).constraints
    const open = async () => {
      await page.getByRole('button', { name: 'More about deals' }).click()
      await page.getByRole('menuitem', { name: 'Rules' }).click()
      await page.getByRole('dialog').waitFor()
    }
    const save = async () => {
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await open()
    await page.getByRole('button', { name: 'Add constraint' }).click()
    const condition = page.getByRole('textbox', { name: 'Condition over doc' })
    await condition.fill('end >= doc.start')
    await page.getByRole('textbox', { name: 'Message' }).fill('The end must not be before the start.')
    await page.getByRole('combobox', { name: 'Field at which it is shown' }).fill('end')
    await page.getByRole('button', { name: 'Save' }).click()
    // Above the button, and in sight all the same.
    await eventually(async () => (await condition.boundingBox())?.y).toBeGreaterThan(100)
    await condition.fill('doc.end >= doc.start')
    await settled(page)
    await expectNoProblem(page, 'a constraint')
    await save()
    expect(await constraints()).toEqual([
      { rule: 'doc.end >= doc.start', message: 'The end must not be before the start.', field: 'end' },
    ])
    expect(await rules()).toBeNull()
    await page.goto(`data/storages/${storage}?tab=fields`)
    await page.getByRole('button', { name: 'Constraints and permissions' }).click()
    await page.getByRole('textbox', { name: 'Condition over doc' }).waitFor()
    const theirs = { rule: 'doc.title != ""', message: 'A deal has a title.', field: 'title' }
    const all = [...objectsOf(await constraints()), theirs]
    // What another person adds while it is open stays, here and where the form has not read it.
    await studio.quoin.manage('PUT', `/_system/storages/${storage}`, {
      constraints: all,
      rules: { remove: 'false' },
    })
    await page.getByRole('button', { name: 'Remove constraint 1' }).click()
    await page.getByRole('textbox', { name: 'See' }).fill('doc.owner == user.guid')
    await save()
    expect(await constraints()).toEqual([theirs])
    expect(await rules()).toEqual({ remove: 'false', see: 'doc.owner == user.guid' })
    await studio.quoin.manage('PUT', `/_system/storages/${storage}`, { constraints: [], rules: null })
    await page.goto('data')
  })

  test('a rule that reads a field of no storage says so; a field of every storage is known', async () => {
    for (const field of [{ name: 'owner', storage: 'deals' }, { name: 'checked_by' }])
      await studio.quoin.send('POST', '/blueprintfields', { as: 'admin', body: { type: 'string', ...field } })
    await page.goto('data')
    await page.getByRole('button', { name: 'More about deals' }).click()
    await page.getByRole('menuitem', { name: 'Rules' }).click()
    const see = page.getByRole('textbox', { name: 'See' })
    await see.fill('doc.checked_by == user.guid && doc.onwer == user.guid && doc.owner != "doc.locked"')
    const warnings = page.getByRole('dialog').getByRole('status')
    await eventually(() => warnings.allTextContents()).toEqual([expect.stringContaining('onwer')])
  })
})

describe('a field whose documents have values: what a rename and another type do is shown first', () => {
  let storage: string
  let field: string
  beforeAll(async () => {
    const { quoin } = studio
    storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'parts' }))
    field = guidOf(
      await quoin.manage('POST', '/blueprintfields', { name: 'price', type: 'string', storage: 'parts' }),
    )
    for (const price of ['12', '7.5', 'on request'])
      await quoin.manage('POST', `/_system/storages/${storage}/documents`, { price })
    await page.goto(`data/storages/${storage}?tab=fields&open=${field}`)
  })

  const dialog = () => page.getByRole('dialog')
  const prices = async (name: string) =>
    (await studio.quoin.documents('parts')).map((document) => document[name])

  test('another type shows what does not fit, and asks what is stored instead', async () => {
    await dialog().waitFor()
    await dialog().getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Number', exact: true }).click()
    await dialog().getByRole('button', { name: 'Save', exact: true }).click()
    await dialog().getByText('The values of 2 documents are converted.').waitFor()
    await dialog().getByText('"on request": must be a number').waitFor()
    expect(await prices('price')).toEqual(['12', '7.5', 'on request'])
    await settled(page)
    await expectNoProblem(page, 'values of a field that do not fit')
    await dialog().getByRole('combobox', { name: 'Values that do not fit' }).click()
    await page.getByRole('option', { name: 'Keep them in another field' }).click()
    await dialog().getByRole('textbox', { name: 'Field that keeps them' }).fill('price_note')
    await dialog().getByRole('button', { name: 'Save and convert' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect([await prices('price'), await prices('price_note')]).toEqual([
      [12, 7.5, null],
      [undefined, undefined, 'on request'],
    ])
  })

  test('a rename says how many documents follow, shows how far they have come, and is taken back', async () => {
    await studio.quoin.manage('PUT', '/queues/default', { paused: true })
    await goWithin(page, `data/storages/${storage}?tab=fields&open=${field}`)
    await dialog().getByRole('textbox', { name: 'Name' }).fill('amount')
    await dialog().getByRole('button', { name: 'Save', exact: true }).click()
    await dialog().getByText('2 documents have a value.').waitFor()
    await dialog().getByRole('button', { name: 'Save and move the values' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText('Values are copied to amount.').waitFor()
    await settled(page)
    await expectNoProblem(page, 'a field that is renamed')
    await page.getByRole('button', { name: 'Take back' }).click()
    await page.getByText('Values are removed from amount, the former name.').waitFor()
    await studio.quoin.manage('PUT', '/queues/default', { paused: false })
    const migration = async () =>
      objectOf(await studio.quoin.manage('GET', `/blueprintfields/${field}`)).migration
    await expect.poll(migration, { timeout: 20_000, interval: 50 }).toBe(null)
    expect([await prices('price'), await prices('amount')]).toEqual([
      [12, 7.5, null],
      [undefined, undefined, undefined],
    ])
    expect(studio.complaints()).toEqual([])
  })

  test('removing a field says how many documents have a value', async () => {
    await goWithin(page, `data/storages/${storage}?tab=fields`)
    await page.getByRole('button', { name: 'Remove the field price' }).click()
    await page.getByText('2 documents have a value of it and keep it.').waitFor()
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('a new document is typed in the order of its fields, and no letter is lost', async () => {
    const { quoin } = studio
    await quoin.manage('POST', '/_system/storages', { name: 'contracts' })
    const fields = [
      { name: 'title', type: 'string' },
      { name: 'price', type: 'decimal', validation_rules: { currency: 'EUR' } },
      { name: 'start', type: 'day' },
      { name: 'good', type: 'reference', reference: { storage: 'parts' } },
      { name: 'number', type: 'autonumber' },
    ]
    for (const [order, one] of fields.entries())
      await quoin.manage('POST', '/blueprintfields', { ...one, storage: 'contracts', order })
    await goWithin(page, 'data')
    await page.getByRole('link', { name: 'contracts', exact: true }).first().click()
    await page.getByRole('link', { name: 'New document' }).click()
    await page.getByRole('textbox', { name: 'Title' }).focus()
    await page.keyboard.type('Rent of the hall')
    await page.keyboard.press('Tab')
    await page.keyboard.type('1200.50')
    await page.getByLabel('Start').fill('2026-06-01')
    await page.getByRole('combobox', { name: 'Good' }).click()
    await page.getByRole('option').first().click()
    expect(await page.getByLabel('Number').count(), 'Quoin gives it').toBe(0)
    await settled(page)
    await expectNoProblem(page, 'a new document')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('tab', { name: 'History' }).waitFor()
    expect(await quoin.documents('contracts')).toMatchObject([
      { title: 'Rent of the hall', price: 1200.5, start: '2026-06-01', good: expect.any(String), number: 1 },
    ])
    await page.getByRole('textbox', { name: 'Title' }).fill('Rent')
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Rent of the hall')
    expect(studio.complaints()).toEqual([])
  })
})
