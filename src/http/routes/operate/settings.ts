import { Type } from 'typebox'
import type { OptionSettings } from '../../../records/settings/option-settings.ts'
import { optionSettingSchema, setSettingSchema, settingParams } from '../../../shared/api/operate/settings.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf, deployerOf } from '../search-reply.ts'

const tags = ['Settings']
const response = { 200: optionSettingSchema }

/** Options of the server: what each is set to, and texts of those that change without a restart. */
export function settingRoutes(settings: OptionSettings): RouteFamily {
  return (app) => {
    app.get(
      '/_system/settings',
      {
        config: { permission: 'settings_view' },
        schema: {
          operationId: 'listSettings',
          summary: 'List settings',
          description: 'Every option of a server, with what it is set to on the node that replies.',
          tags,
          response: { 200: Type.Array(optionSettingSchema) },
        },
      },
      async () => [...settings.list()],
    )

    app.get(
      '/_system/settings/:name',
      {
        config: { permission: 'settings_view' },
        schema: { operationId: 'getSetting', summary: 'One setting', tags, params: settingParams, response },
      },
      async ({ params }) => settings.get(params.name),
    )

    app.put(
      '/_system/settings/:name',
      {
        config: { permission: 'settings_update', confirmed: true, errors: ['CONFLICT'] },
        schema: {
          operationId: 'setSetting',
          summary: 'Set a setting',
          description:
            'Every node has applied it when the reply is sent. CONFLICT for an option that needs a restart, and for one that the environment of the node sets. `QUOIN_ALLOWED_HOSTS` needs `settings_network` too.',
          tags,
          params: settingParams,
          body: setSettingSchema,
          response,
        },
      },
      async (request) =>
        settings.set(request.params.name, request.body.value, actorOf(request), deployerOf(request).lacks),
    )

    unsetRoute(app, settings)
  }
}

function unsetRoute(app: App, settings: OptionSettings): void {
  app.delete(
    '/_system/settings/:name',
    {
      config: { permission: 'settings_remove', confirmed: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'unsetSetting',
        summary: 'Remove a setting',
        description:
          'The option has its default again. Without a setting nothing changes. `QUOIN_ALLOWED_HOSTS` needs `settings_network` too.',
        tags,
        params: settingParams,
        response,
      },
    },
    async (request) => settings.unset(request.params.name, actorOf(request), deployerOf(request).lacks),
  )
}
