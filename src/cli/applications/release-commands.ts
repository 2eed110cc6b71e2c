/** The commands of an application as a folder and as releases of a cluster. */
import { command } from '../command.ts'
import { serverAddress, urlFlag } from '../open-management.ts'

const clusterFlags = {
  remote: { type: 'string', value: '<name>', help: 'The cluster of this name: quoin remote add.' },
  ...urlFlag,
} as const

const folder = { name: '<folder>', optional: true, completes: 'file' } as const
const jsonFlag = { json: { type: 'boolean', help: 'Prints JSON.' } } as const

export const pull = command({
  name: 'pull',
  operands: [{ name: '<application>' }, folder],
  flags: clusterFlags,
  summary: 'Writes an application of a cluster into a folder.',
  about: `As the cluster has it now, also what was changed in the studio. The folder has the name of the application if none is
given. Files of the application that are no longer part of it are removed; others stay. Prints the changed files.`,
  async run({ positionals: [name = '', into = name], values }, terminal) {
    const { runPull } = await import('./run-release.ts')
    return runPull(name, into, values, terminal)
  },
})

export const plan = command({
  name: 'plan',
  operands: [folder],
  flags: { ...jsonFlag, ...clusterFlags },
  summary: 'Prints what a push of the folder would do.',
  about: `Changes nothing. Exits with 2 if something would be lost, with 1 if the push is refused, and else with 0.
docs/applications.md says what is in a plan.`,
  async run({ positionals: [from = '.'], values: { json = false, ...cluster } }, terminal) {
    const { runPlan } = await import('./run-release.ts')
    return runPlan(from, json, cluster, terminal)
  },
})

/** Of what becomes a release. */
const releaseFlags = {
  'move-waits': { type: 'boolean', help: 'Runs that wait go on with the new blocks where these fit.' },
  wait: { type: 'boolean', help: 'Waits for the decision where another user must approve the push.' },
  verify: {
    type: 'string',
    value: '<number>',
    help: 'Compares so many recorded runs of each changed blueprint first (1 to 200).',
  },
  accept: {
    type: 'string',
    value: '<key>',
    multiple: true,
    help: 'With --verify: a difference that is meant. Can be repeated.',
  },
} as const

export const push = command({
  name: 'push',
  operands: [folder],
  flags: {
    yes: { type: 'boolean', help: 'Does not ask.' },
    'allow-loss': { type: 'boolean', help: 'Also where documents or memberships of groups are lost.' },
    ...releaseFlags,
    preview: { type: 'string', value: '<name>', help: 'Beside the live application, below /~<name>/.' },
    hours: { type: 'string', value: '<number>', help: 'With --preview: until it is removed (24).' },
    copy: {
      type: 'string',
      value: '<number>',
      help: 'With --preview: so many documents of each storage, with secrets masked.',
    },
    outside: { type: 'boolean', help: 'With --preview: it may call other servers and send mails.' },
    ...clusterFlags,
  },
  summary: 'Applies the folder to a cluster as one release, all or nothing.',
  about: `Checks the folder, prints the plan and asks before it pushes. If the cluster was changed meanwhile, it plans again.
Exits with 3 if the push waits for the approval of another user. With --verify it is refused where a recorded run differs on the
new blocks, and lists each difference with its key. With --preview nothing live is changed: the application is put below a path of
its own, and nothing is asked.`,
  async run({ positionals: [from = '.'], values: { preview, hours, copy, outside, ...values } }, terminal) {
    const only = { hours, copy, outside }
    const { runPreview, noPreview } = await import('./run-previews.ts')
    if (preview !== undefined) return runPreview(from, preview, { ...only, ...values }, terminal)
    noPreview(only)
    const { runPush, pushFlags } = await import('./run-release.ts')
    return runPush(from, pushFlags(values), terminal)
  },
})

export const previews = command({
  name: 'previews',
  operands: [],
  flags: {
    remove: { type: 'string', value: '<name>', help: 'Removes this one with all of its data.' },
    ...jsonFlag,
    ...clusterFlags,
  },
  summary: 'Lists previews of applications with their ends, or removes one.',
  about: 'quoin push --preview makes one. It is removed at its end by itself.',
  async run({ values: { json = false, remove, ...cluster } }, terminal) {
    const { runPreviews } = await import('./run-previews.ts')
    return runPreviews(json, remove, cluster, terminal)
  },
})

export const pushes = command({
  name: 'pushes',
  operands: [],
  flags: { ...jsonFlag, ...clusterFlags },
  summary: 'Lists pushes that wait for the approval of a second user, and those that were decided.',
  about: 'The setting QUOIN_PUSH_APPROVAL of the cluster says which applications need one.',
  async run({ values: { json = false, ...cluster } }, terminal) {
    const { runPushes } = await import('./run-approval.ts')
    return runPushes(json, cluster, terminal)
  },
})

export const approve = command({
  name: 'approve',
  operands: [{ name: '<push>' }],
  flags: { yes: { type: 'boolean', help: 'Does not ask.' }, ...clusterFlags },
  summary: 'Approves the push of another user, which is released then.',
  about: 'Prints its plan and asks. quoin pushes lists those that wait.',
  async run({ positionals: [push = ''], values: { yes = false, ...cluster } }, terminal) {
    const { runApprove } = await import('./run-approval.ts')
    return runApprove(push, yes, cluster, terminal)
  },
})

export const reject = command({
  name: 'reject',
  operands: [{ name: '<push>' }],
  flags: { comment: { type: 'string', value: '<text>', help: 'For its author.' }, ...clusterFlags },
  summary: 'Rejects the push of another user, or takes back your own.',
  async run({ positionals: [push = ''], values: { comment = '', ...cluster } }, terminal) {
    const { runReject } = await import('./run-approval.ts')
    return runReject(push, comment, cluster, terminal)
  },
})

export const dev = command({
  name: 'dev',
  operands: [folder],
  flags: clusterFlags,
  summary: 'Keeps the folder and a running server the same while both are edited, and runs the tests.',
  about: `Pushes each saved change as a release, and writes into the folder what the studio saves. A file that was changed in both is a
conflict: the folder keeps its own, the other one is in .quoin/studio, and nothing is pushed until the file is saved again. What
would lose documents is not pushed. Without --url or --remote: the server on this machine, at QUOIN_PORT. Stop with Ctrl+C.`,
  async run({ positionals: [from = '.'], values }, terminal) {
    const { runDev } = await import('./run-dev.ts')
    const { stopSignal } = await import('../run-start.ts')
    const stop = new AbortController()
    void stopSignal(process, terminal.clock, (code) => process.exit(code)).then(() => stop.abort())
    return runDev(from, values, terminal, stop.signal)
  },
})

export const releases = command({
  name: 'releases',
  operands: [{ name: '<application>' }],
  flags: { ...jsonFlag, ...clusterFlags },
  summary: 'Lists the releases of an application, the newest first.',
  async run({ positionals: [name = ''], values: { json = false, ...cluster } }, terminal) {
    const { runReleases } = await import('./run-release.ts')
    return runReleases(name, json, cluster, terminal)
  },
})

export const rollback = command({
  name: 'rollback',
  operands: [{ name: '<application>' }, { name: '<release>', optional: true }],
  flags: {
    yes: { type: 'boolean', help: 'Does not ask.' },
    'allow-loss': { type: 'boolean', help: 'Also where memberships of groups are lost.' },
    ...releaseFlags,
    ...clusterFlags,
  },
  summary: 'Goes back to a former release, as a new one.',
  about: `The release before the present one if none is given. Blueprints, fields, rules, groups, templates, connections, alerts,
views and queues become as they were; values of later fields stay in their documents, and storages that have documents stay.`,
  async run({ positionals: [name = '', release], values }, terminal) {
    const { runRollback, pushFlags } = await import('./run-release.ts')
    return runRollback(name, release, pushFlags(values), terminal)
  },
})

export const uninstall = command({
  name: 'uninstall',
  operands: [{ name: '<application>' }],
  flags: {
    yes: { type: 'boolean', help: 'Does not ask.' },
    'allow-loss': { type: 'boolean', help: 'Also where documents or memberships of groups are lost.' },
    ...clusterFlags,
  },
  summary: 'Removes an application from a cluster: all of its objects and its releases.',
  about:
    'Prints the plan and asks before it removes anything. All or nothing. It cannot be rolled back: pull the folder first.',
  async run({ positionals: [name = ''], values }, terminal) {
    const { yes = false, 'allow-loss': allowLoss = false, ...cluster } = values
    const { runUninstall } = await import('./run-release.ts')
    return runUninstall(name, { yes, allowLoss, ...cluster }, terminal)
  },
})

export const drift = command({
  name: 'drift',
  operands: [folder],
  flags: { ...jsonFlag, ...clusterFlags },
  summary: 'Exits with 1 if the cluster differs from the folder.',
  about:
    'Prints a line for each object that was changed in the studio. quoin pull takes the changes into the folder.',
  async run({ positionals: [from = '.'], values: { json = false, ...cluster } }, terminal) {
    const { runDrift } = await import('./run-release.ts')
    return runDrift(from, json, cluster, terminal)
  },
})

export const remoteAdd = command({
  name: 'remote add',
  operands: [{ name: '<name>' }, { name: '<address>' }],
  flags: {},
  summary: 'Names a cluster, for --remote of plan, push, pull and others.',
  about: `Signing in stays with quoin login <address> <username>.
The names are in remotes.json beside the sign-ins; a name that is there gets the new address.`,
  async run({ positionals: [name = '', address = ''] }, terminal) {
    const { addRemote } = await import('./remotes.ts')
    await addRemote(terminal, name, serverAddress(address))
    return 0
  },
})
