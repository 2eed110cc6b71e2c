import { stuckDirectory } from '../flows/watchdog/stuck-flows.ts'
import { OptionError } from '../options/option-kinds.ts'
import { openQuoin, type Quoin } from '../quoin/quoin.ts'
import { startWatchdog } from '../quoin/watchdog.ts'
import type { Terminal } from './command.ts'
import { type Example, readExample } from './example-files.ts'
import { greeting } from './greeting.ts'
import { installExample } from './install-example.ts'
import { settleAfterStart } from './settle-after-start.ts'
import { stopSignal } from './stop-signal.ts'

/** Requests in flight have 10 seconds; then there is still the disk to wait for. */
const STOP_MS = 15_000

/** Gives the exit code once the node has stopped. `named`: an example application. */
export async function runStart(named: string | undefined, terminal: Terminal): Promise<number> {
  const example = named === undefined ? undefined : await readExample(named)
  const began = performance.now()
  const options = terminal.options()
  const { quoin, address } = await listen(terminal, example)
  const milliseconds = Math.round(performance.now() - began)
  const nodes = await quoin.database.capabilities.cluster?.nodes()
  terminal.announce(
    greeting(quoin, nodes, {
      address,
      data: options.databaseUrl === '' ? options.data : undefined,
      environment: options.environment,
      milliseconds,
    }),
  )
  if (example) terminal.announce(`  ${example.title}:\n\n    ${address}${example.pages}\n`)
  // Now that all is open: a migration may take its time.
  startWatchdog({
    running: quoin.flows.running,
    seconds: options.watchdog,
    directory: stuckDirectory(options.data),
    lost: (error) => quoin.flows.log.write({ level: 'error', message: `The watchdog has ended: ${error}` }),
  })
  const callOff = settleAfterStart()
  const signal = await stopSignal(process, terminal.clock, (code) => process.exit(code))
  callOff()
  terminal.announce(`${signal} received, shutting down …`)
  const late = setTimeout(() => {
    terminal.complain('The shutdown took too long; requests in flight are cut off.')
    process.exit(1)
  }, STOP_MS)
  await quoin.close()
  clearTimeout(late)
  // A leftover, such as a connection that is kept alive, must not keep the process running.
  return process.exit(0)
}

async function listen(
  terminal: Terminal,
  example: Example | undefined,
): Promise<{ quoin: Quoin; address: string }> {
  const quoin = await openQuoin(terminal.options(), terminal)
  try {
    if (example) await installExample(quoin, example, terminal.clock())
    return { quoin, address: await quoin.server.listen() }
  } catch (error) {
    await quoin.close()
    throw isNoAddress(error) ? new OptionError(noAddress(terminal.options().host)) : error
  }
}

/** The system does not know the name, or no network card of this machine has the address. */
function isNoAddress(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error && 'syscall' in error)) return false
  return error.code === 'EADDRNOTAVAIL' || (error.code === 'ENOTFOUND' && error.syscall === 'getaddrinfo')
}

const noAddress = (host: string) =>
  `QUOIN_HOST is ${JSON.stringify(host)}; it must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all.`
