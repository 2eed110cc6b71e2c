import { isJsonObject } from '../../shared/json.ts'
import { textsIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const extensionNew = command({
  name: 'extension new',
  operands: [{ name: '<name>' }],
  flags: { folder: { type: 'string', value: '<folder>', help: 'Where it is made. Without it ./<name>.' } },
  summary: 'Makes the folder of an extension: a block, its test, and a README.',
  about: 'The name is of a–z and 0–9; the identifiers of its blocks begin with it.',
  async run({ positionals: [name = ''], values: { folder = name } }, terminal) {
    const { writeTemplate } = await import('./extension-template.ts')
    await writeTemplate(name, folder)
    terminal.print(`${folder} is made. Test it: quoin extension test ${folder}`)
    return 0
  },
})

export const extensionTest = command({
  name: 'extension test',
  operands: [{ name: '<folder>', completes: 'file' }],
  flags: {},
  summary: 'Checks an extension, and runs the tests of its blocks in the sandbox.',
  about: `Tests are rows in blocks/<identifier>.test.json (docs/extensions.md): nothing outside is asked, answers come from the rows.
Exit code 1 where there is a problem, or a row fails.`,
  async run({ positionals: [folder = ''] }, terminal) {
    const { testExtension } = await import('./test-extension.ts')
    const { signal } = new AbortController()
    const { passed, problems } = await testExtension(folder, signal)
    for (const problem of problems) terminal.complain(problem)
    terminal.print(`${passed} passed, ${problems.length} failed`)
    return problems.length === 0 ? 0 : 1
  },
})

export const extensionList = command({
  name: 'extension list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the extensions, with what they may do and what is wrong with them.',
  about: 'Those in the folder QUOIN_BLOCKS of the server, and those that were switched on.',
  async run({ values: { url } }, terminal) {
    const { allExtensions, linesOf } = await import('./stored-extensions.ts')
    const found = await withManagement(terminal, url, allExtensions)
    for (const one of found) for (const line of linesOf(one)) terminal.print(line)
    if (found.length === 0)
      terminal.complain(
        'There are none. Start the server with QUOIN_BLOCKS=<folder>; quoin extension new makes one.',
      )
    return 0
  },
})

export const extensionOn = command({
  name: 'extension on',
  operands: [{ name: '<name>' }],
  flags: {
    hash: {
      type: 'string',
      value: '<hash>',
      help: 'Of the code that was looked at, as quoin extension list prints it; or its beginning.',
    },
    ...urlFlag,
  },
  summary: 'Switches an extension on, and prints what it may do.',
  about: `Without --hash the code that the folder has now. With it other code is refused; a former version that is stored is
switched on again. Blueprints use another version from their next deploy.`,
  async run({ positionals: [name = ''], values: { hash = '', url } }, terminal) {
    const { linesOf, switchOn } = await import('./stored-extensions.ts')
    const one = await withManagement(terminal, url, (management) => switchOn(management, name, hash))
    for (const line of linesOf(one)) terminal.print(line)
    return 0
  },
})

export const extensionOff = command({
  name: 'extension off',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Switches an extension off: what is deployed with its blocks goes on.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    await withManagement(terminal, url, (management) =>
      management.call('PUT', `/_system/extensions/${encodeURIComponent(name)}`, { on: false }),
    )
    return 0
  },
})

export const extensionRemove = command({
  name: 'extension remove',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes an extension that is off from the cluster, with its code.',
  about: `Refused, with names, while an active blueprint was deployed with it, or runs or jobs that wait need it.
Names what still has its blocks. The folder stays as it is.`,
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const removed = await withManagement(terminal, url, (management) =>
      management.call('DELETE', `/_system/extensions/${encodeURIComponent(name)}`),
    )
    for (const warning of textsIn(isJsonObject(removed) ? removed.warnings : [])) terminal.complain(warning)
    return 0
  },
})
