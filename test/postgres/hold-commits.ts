/** A server whose only synchronous standby is gone: no COMMIT is answered until there is none that it waits for. */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'

export interface DelayedCommits {
  /** Process ids of the connections whose COMMIT waits. */
  hanging(): Promise<readonly number[]>
  hold(): Promise<void>
  letGo(): Promise<void>
  close(): Promise<void>
}

export async function openDelayedCommits(url: string): Promise<DelayedCommits> {
  const admin = new Client({ connectionString: url })
  await admin.connect()

  async function setStandby(names: string): Promise<void> {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await admin.query('SELECT pg_reload_conf()')
  }

  async function hanging(): Promise<readonly number[]> {
    const { rows } = await admin.query(`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
    return rows.map(({ pid }) => Number(pid))
  }

  /** PostgreSQL reloads its settings some time after the signal: so a waiting connection has to be seen. */
  async function isHolding(): Promise<boolean> {
    const probe = new Client({ connectionString: url })
    await probe.connect()
    const { rows } = await probe.query('SELECT pg_backend_pid() AS pid')
    let isOver = false
    const committed = probe
      .query(`SELECT pg_logical_emit_message(true, 'probe', '')`)
      .finally(() => (isOver = true))
      .catch(() => undefined)
    let holds = false
    while (!isOver && !holds) {
      holds = (await hanging()).includes(rows[0].pid)
      await wait(10)
    }
    await admin.query('SELECT pg_cancel_backend($1)', [rows[0].pid])
    await committed
    await probe.end()
    return holds
  }

  return {
    hanging,
    async hold() {
      await setStandby('ANY 1 (missing_standby)')
      while (!(await isHolding())) await wait(20)
    },
    async letGo() {
      await setStandby('')
      while ((await hanging()).length > 0) await wait(20)
    },
    close: () => admin.end(),
  }
}
