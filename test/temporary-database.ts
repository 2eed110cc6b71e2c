/**
 * Databases on the PostgreSQL of this test run. Making the tables and Quoin's own storages takes most of a second, and
 * every test file wants a database: so that is done once a run, in a database that the others are then copies of.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { postgresPort } from './postgres/shared-postgres.ts'
import { freeDatabase, keepForNext, noteAsMade } from './reused-databases.ts'

export interface TemporaryDatabase {
  readonly url: string
  /** Ends the connections that are left, too. */
  drop(): Promise<void>
}

export interface DatabaseTemplate {
  /** Of [a-z_]; what it holds. */
  readonly name: string
  /** Fills the database, which is empty, and lets go of it. Called once a run, at its first use. */
  fill(url: string): Promise<void>
}

/** An empty database, or a copy of the template. */
export async function openTemporaryDatabase(template?: DatabaseTemplate): Promise<TemporaryDatabase> {
  const kept = template && freeDatabase(template.name)
  if (template && kept !== undefined) return reusable(template, kept)
  const server = `postgres://quoin@127.0.0.1:${await postgresPort()}`
  const name = `test_${randomBytes(8).toString('hex')}`
  const admin = new Client({ connectionString: `${server}/postgres` })
  await admin.connect()
  try {
    const source = template && (await madeTemplate(admin, server, template))
    await admin.query(`CREATE DATABASE ${name}${source === undefined ? '' : ` TEMPLATE ${source}`}`)
  } finally {
    await admin.end()
  }
  const url = `${server}/${name}`
  if (!template) return { url, drop: () => drop(url) }
  await noteAsMade(template.name, url)
  return reusable(template, url)
}

function reusable(template: DatabaseTemplate, url: string): TemporaryDatabase {
  return {
    url,
    async drop() {
      if (!(await keepForNext(template.name, url))) await drop(url)
    },
  }
}

/** Those who need it at the same time, in any process of the run, wait for the one that makes it. */
async function madeTemplate(admin: Client, server: string, template: DatabaseTemplate): Promise<string> {
  const name = `template_${template.name}`
  const isMade = async () =>
    (await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])).rowCount === 1
  if (await isMade()) return name
  await admin.query('SELECT pg_advisory_lock(hashtext($1))', [name])
  try {
    if (await isMade()) return name
    const filling = `filling_${template.name}`
    await admin.query(`DROP DATABASE IF EXISTS ${filling} WITH (FORCE)`)
    await admin.query(`CREATE DATABASE ${filling}`)
    await template.fill(`${server}/${filling}`)
    await rename(admin, filling, name)
    return name
  } finally {
    await admin.query('SELECT pg_advisory_unlock(hashtext($1))', [name])
  }
}

/** PostgreSQL notices a moment later that a connection has gone; a database that is renamed or copied may have no connections. */
async function rename(admin: Client, from: string, to: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await admin.query(`ALTER DATABASE ${from} RENAME TO ${to}`)
      return
    } catch (error) {
      const busy = error instanceof Error && 'code' in error && error.code === '55006'
      if (!busy || tries === 100) throw error
    }
    await wait(20)
  }
}

async function drop(url: string): Promise<void> {
  const server = new URL(url)
  const name = server.pathname.slice(1)
  server.pathname = '/postgres'
  const client = new Client({ connectionString: server.href })
  await client.connect()
  try {
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
  } finally {
    await client.end()
  }
}
