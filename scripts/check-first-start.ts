/**
 * Before what takes a minute to build: a password of the first administrator that the start would refuse. Later starts do not
 * use it, and whether a PostgreSQL has an administrator is known only when it is asked.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkPassword } from '../src/access/user-input.ts'

const { QUOIN_ADMIN_PASSWORD: password = '', QUOIN_DATA: data = '', DATABASE_URL: url = '' } = process.env
const isFirst = url === '' && !existsSync(join(data || './data', 'quoin.db'))
if (password !== '' && isFirst) {
  try {
    await checkPassword(password, 'admin')
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^password/, 'QUOIN_ADMIN_PASSWORD') : ''
    console.error(`${said} Give another one, or none: then a random one is made and printed once.`)
    process.exitCode = 1
  }
}
