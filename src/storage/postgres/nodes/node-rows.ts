/** The statements about nodes and changes. Each is one statement, so all of them work through a pooler. */
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import type { ClusterNode } from '../../cluster.ts'
import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'

/** How long a node that does not answer keeps the others waiting, and how long it goes on by itself. */
export const LEASE_MS = 6_000
export const CHANGE_CHANNEL = 'quoin_change'
export const APPLIED_CHANNEL = 'quoin_applied'

/** True, and the COMMIT of the statement does not wait for standbys: for rows that are rewritten every second. */
const LOCALLY = "set_config('synchronous_commit', 'local', true) = 'local'"

export interface Change {
  readonly number: number
  readonly node: string
  /** Guids by storage. */
  readonly documents: ReadonlyMap<string, readonly string[]>
}

export interface Joining {
  readonly guid: string
  readonly name: string
  readonly version: string
}

/** Inside the transaction, as its last statement: others who announce wait until it has ended. */
export async function insertChange(
  connection: PostgresConnection,
  node: string,
  documents: JsonObject,
): Promise<number> {
  const [row] = await connection.rows(
    `WITH counted AS (UPDATE change_counter SET number = number + 1 RETURNING number),
      inserted AS (INSERT INTO change (number, node, documents) SELECT number, $1, $2::json FROM counted RETURNING number)
    SELECT number, pg_notify('${CHANGE_CHANNEL}', '') FROM inserted`,
    [node, JSON.stringify(documents)],
  )
  return numberOf(row ?? {}, 'number')
}

/** Where a database is: its last change, and its timeline, of which each failover begins a new one. */
export interface Position {
  readonly number: number
  readonly timeline: number
}

export async function lastChange(connection: PostgresConnection): Promise<Position> {
  const [row = {}] = await connection.rows('SELECT number, quoin_timeline() AS timeline FROM change_counter')
  return { number: numberOf(row, 'number'), timeline: numberOf(row, 'timeline') }
}

export async function changesAfter(
  connection: PostgresConnection,
  number: number,
): Promise<readonly Change[]> {
  const rows = await connection.rows(
    'SELECT number, node, documents::text AS documents FROM change WHERE number > $1 ORDER BY number LIMIT 1000',
    [number],
  )
  return rows.map((row) => ({
    number: numberOf(row, 'number'),
    node: textOf(row, 'node'),
    documents: documentsOf(JSON.parse(textOf(row, 'documents'))),
  }))
}

function documentsOf(value: unknown): ReadonlyMap<string, readonly string[]> {
  const storages = isJsonObject(value) ? Object.entries(value) : []
  return new Map(
    storages.map(([name, guids]) => [
      name,
      Array.isArray(guids) ? guids.filter((guid) => typeof guid === 'string') : [],
    ]),
  )
}

/**
 * Waits for standbys as every write does: on a primary that has lost them no node joins. The first node on a timeline
 * records since when it is known.
 */
export async function joinNode(
  connection: PostgresConnection,
  { guid, name, version }: Joining,
  { number, timeline }: Position,
): Promise<void> {
  await connection.run(
    `WITH known AS (INSERT INTO timeline (number) VALUES ($6) ON CONFLICT DO NOTHING)
    INSERT INTO node (guid, name, version, lease_until, applied, timeline, unique_keys, key_columns)
    VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond', $5, $6, true, true)
    ON CONFLICT (guid) DO UPDATE
      SET seen = now(), lease_until = excluded.lease_until, applied = excluded.applied, timeline = excluded.timeline`,
    [guid, name, version, LEASE_MS, number, timeline],
  )
}

/**
 * False when the lease had run out, so that the others have gone on without this node, or when it was of another timeline.
 * Waits for this server's disk and not for its standbys: where those are gone every COMMIT waits, and reads go on.
 */
export async function renewNode(
  connection: PostgresConnection,
  guid: string,
  applied: number,
  load: number,
): Promise<boolean> {
  const rows = await connection.rows(
    `WITH before AS (SELECT applied FROM node WHERE guid = $1),
      renewed AS (
        UPDATE node SET seen = now(), lease_until = now() + $2 * interval '1 millisecond', applied = $3, load = $4
        WHERE guid = $1 AND lease_until > now() AND timeline = quoin_timeline()
          AND ${LOCALLY}
        RETURNING applied)
    SELECT CASE WHEN renewed.applied > before.applied THEN pg_notify('${APPLIED_CHANNEL}', '') END FROM renewed, before`,
    [guid, LEASE_MS, applied, load],
  )
  return rows.length > 0
}

/** A node leaves permanently: no other node waits for it any more. */
export async function leaveNode(connection: PostgresConnection, guid: string): Promise<void> {
  await connection.rows(
    `WITH gone AS (DELETE FROM node WHERE guid = $1 AND ${LOCALLY}) SELECT pg_notify('${APPLIED_CHANNEL}', '')`,
    [guid],
  )
}

/** Changes that no node has to know of any more. */
export async function forgetChanges(
  connection: PostgresConnection,
  numbers: readonly number[],
): Promise<void> {
  await connection.run(`DELETE FROM change WHERE number = ANY($1) AND ${LOCALLY}`, [numbers])
}

/** Rows of nodes that have been silent for an hour, and changes that all have heard of since. */
export async function forgetOld(connection: PostgresConnection): Promise<void> {
  await connection.run(`DELETE FROM node WHERE lease_until < now() - interval '1 hour' AND ${LOCALLY}`)
  await connection.run(`DELETE FROM change WHERE created < now() - interval '1 hour' AND ${LOCALLY}`)
}

/**
 * Whether every live node has applied the change. For the time of a lease after a failover the answer is no: until then a
 * node may answer by a lease that only the former primary knew. Later no lease of a former timeline counts.
 */
export async function isAcknowledged(connection: PostgresConnection, number: number): Promise<boolean> {
  const rows = await connection.rows(
    `WITH here AS MATERIALIZED (SELECT quoin_timeline() AS number)
    SELECT 1 FROM node, here
      WHERE applied < $1 AND lease_until > now() AND coalesce(timeline, here.number) = here.number
    UNION ALL
    SELECT 1 FROM here WHERE NOT EXISTS (
      SELECT 1 FROM timeline
      WHERE timeline.number = here.number AND since <= now() - $2 * interval '1 millisecond')
    LIMIT 1`,
    [number, LEASE_MS],
  )
  return rows.length === 0
}

/** Names of live nodes of a version that does not know unique keys. */
export async function nodesWithoutUniqueKeys(connection: PostgresConnection): Promise<readonly string[]> {
  const rows = await connection.rows(
    'SELECT name FROM node WHERE lease_until > now() AND NOT unique_keys ORDER BY name',
  )
  return rows.map((row) => textOf(row, 'name'))
}

export async function listNodes(
  connection: PostgresConnection,
  self: string,
): Promise<readonly ClusterNode[]> {
  const rows = await connection.rows(
    `SELECT guid, name, version, load::float8 AS load, lease_until > now() AS live,
      extract(epoch FROM started)::bigint AS started, extract(epoch FROM seen)::bigint AS seen
    FROM node WHERE lease_until > now() - interval '1 hour' ORDER BY name, started, guid`,
  )
  return rows.map((row) => ({
    guid: textOf(row, 'guid'),
    name: textOf(row, 'name'),
    version: textOf(row, 'version'),
    started: numberOf(row, 'started'),
    seen: numberOf(row, 'seen'),
    load: Math.round(numberOf(row, 'load') * 100) / 100,
    live: row.live === true,
    self: textOf(row, 'guid') === self,
  }))
}
