import { defineReadTrigger } from './http-trigger.ts'

export default defineReadTrigger('on_startup_register_uri_get')
