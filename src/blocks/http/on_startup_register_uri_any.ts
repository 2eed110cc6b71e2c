import { defineWriteTrigger } from './http-trigger.ts'

export default defineWriteTrigger('on_startup_register_uri_any', 'ANY')
