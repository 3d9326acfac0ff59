declare module 'virtual:reference' {
  export const functions: readonly import('./reference.ts').FunctionReference[];
  export const schema: import('./schema.ts').Schema;
}
