#!/usr/bin/env node
import { OptionError, optionsHelp, readOptions } from './options.ts'
import { openQuoin, type Quoin } from './quoin.ts'

const help = `Quoin: a low-code application cluster.

  quoin start          starts a node (also: npm start)
  quoin start --help   lists every setting
`

async function main(words: readonly string[]): Promise<number | undefined> {
  const [command = 'help', ...rest] = words
  if (command === 'start' && rest.length === 0) return start()
  if (command === 'start' && (rest[0] === '--help' || rest[0] === '-h')) {
    console.log(`quoin start\n\nStarts a node. Settings come from the environment:\n\n${optionsHelp()}`)
    return 0
  }
  const asked = ['help', '--help', '-h'].includes(command)
  if (asked) console.log(help)
  else console.error(`Unknown: quoin ${words.join(' ')}\n\n${help}`)
  return asked ? 0 : 2
}

/** Runs until a signal; gives a number only when it could not start. */
async function start(): Promise<number | undefined> {
  const began = performance.now()
  let quoin: Quoin
  let address: string
  try {
    const options = readOptions()
    quoin = await openQuoin(options, { clock: Date.now, random: (bytes) => crypto.getRandomValues(bytes) })
    try {
      address = await quoin.server.listen()
    } catch (error) {
      await quoin.close()
      throw error
    }
    console.log(greeting(quoin, address, options.data, Math.round(performance.now() - began)))
  } catch (error) {
    console.error(error instanceof OptionError ? error.message : `Quoin could not start: ${reasonOf(error)}`)
    return 1
  }
  const stop = async (signal: string) => {
    console.log(`${signal}: finishing what is under way …`)
    // A second signal does not wait.
    process.once('SIGINT', () => process.exit(130))
    try {
      await quoin.close()
      process.exit(0)
    } catch (error) {
      console.error(`Stopping failed: ${reasonOf(error)}`)
      process.exit(1)
    }
  }
  process.once('SIGINT', () => stop('SIGINT'))
  process.once('SIGTERM', () => stop('SIGTERM'))
  return undefined
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}. Another program listens there; set QUOIN_PORT to another port.`
  }
  return error.message
}

function greeting(quoin: Quoin, address: string, data: string, milliseconds: number): string {
  const { administrator } = quoin
  const lines = [
    '',
    `  Quoin ${quoin.version} is ready (${quoin.storage.engine} in ${data}, ${milliseconds} ms)`,
    '',
  ]
  lines.push(`    API      ${address}/api/v1`, `    Docs     ${address}/docs`)
  if (administrator?.password !== undefined) {
    lines.push(
      `    Sign in  ${administrator.username} / ${administrator.password}   (shown only now: keep it)`,
    )
  } else if (administrator) {
    lines.push(`    Sign in  ${administrator.username} / the password from QUOIN_ADMIN_PASSWORD`)
  }
  const endpoint = [...quoin.engine.live.table().blueprints.values()]
    .flatMap(({ compiled }) => compiled.endpoints)
    .find(({ listening, scopes }) => {
      const open = scopes.length === 0 || scopes.includes('*public')
      return open && listening.method === 'GET' && !listening.uri.includes('{')
    })
  lines.push('', '  Try it:', '', `    curl ${address}/api/v1/${endpoint?.listening.uri ?? 'info'}`, '')
  return lines.join('\n')
}

const code = await main(process.argv.slice(2))
if (code !== undefined) process.exitCode = code
