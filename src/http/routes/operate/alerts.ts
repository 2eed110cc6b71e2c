import type { AlertRules } from '../../../records/alerts/alert-rules.ts'
import { testAlert } from '../../../records/alerts/check-alerts.ts'
import type { RecordContext } from '../../../records/records.ts'
import {
  alertSchema,
  createAlertSchema,
  testedAlertSchema,
  updateAlertSchema,
} from '../../../shared/api/operate/alerts.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf, deployerOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Alerts']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'figure', type: 'string' },
  { name: 'firing', type: 'boolean' },
]

/** Rules that tell people by mail and webhook when a figure of the cluster is bad. */
export function alertRoutes(rules: AlertRules, { database, clock }: RecordContext): RouteFamily {
  return (app) => {
    const alerts = resource(app, {
      path: '/_system/alerts',
      scopes: 'alerts',
      tags,
      record: alertSchema,
      searchable,
    })
    alerts.list({ operationId: 'searchAlerts', summary: 'List alerts' }, (requested) =>
      findPage(database.session(), systemStorages.alerts, requested),
    )
    alerts.create(
      {
        operationId: 'createAlert',
        summary: 'Add an alert',
        description:
          'One node checks it each minute. It tells once when it fires and once when it is over, which is at 80 % of the threshold (`disk_free`: at 125 %). A cluster holds at most 50 alerts. To name a secret, and to change the webhook of an alert that has one, the caller needs `secrets_update` too.',
        errors: ['CONFLICT'],
        confirmed: true,
        body: createAlertSchema,
      },
      (body, request) => rules.create(body, actorOf(request), deployerOf(request).lacks),
    )
    alerts.get({ operationId: 'getAlert', summary: 'One alert' }, (guid) => rules.get(guid))
    alerts.update(
      { operationId: 'updateAlert', summary: 'Change an alert', confirmed: true, body: updateAlertSchema },
      (guid, body, request) => rules.update(guid, body, actorOf(request), deployerOf(request).lacks),
    )
    alerts.remove({ operationId: 'removeAlert', summary: 'Remove an alert' }, (guid, request) =>
      rules.remove(guid, actorOf(request)),
    )

    app.post(
      '/_system/alerts/:guid/test',
      {
        config: { permission: 'alerts_update' },
        schema: {
          operationId: 'testAlert',
          summary: 'Send a test of an alert',
          description: 'Tells by mail and webhook as the alert would; the alert stays as it is.',
          tags,
          params: guidParams,
          response: { 200: testedAlertSchema },
        },
      },
      async (request) => ({ jobs: await testAlert({ database, clock }, request.params.guid) }),
    )
  }
}
