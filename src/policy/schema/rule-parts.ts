import type { ObjectSchema } from './schema.ts';

const contextEntry: ObjectSchema = {
  name: { type: 'string', required: true, description: 'The variable the entry defines.' },
  variable: {
    type: {
      object: {
        value: { type: 'free', description: 'Any value, with variables.' },
        jmesPath: { type: 'string', description: 'An expression over `value`, or over the whole context.' },
        default: { type: 'free', description: 'The value when `jmesPath` yields nothing.' },
      },
    },
    description: 'A value or an expression.',
  },
  configMap: {
    type: {
      object: {
        name: { type: 'string', required: true, description: 'The ConfigMap.' },
        namespace: { type: 'string', description: 'Its namespace.' },
      },
    },
    description: 'The data of a ConfigMap.',
  },
  apiCall: {
    type: {
      object: {
        urlPath: { type: 'string', description: 'A path of the API server, as in `kubectl get --raw`.' },
        method: { type: 'string', enum: ['GET', 'POST'], default: 'GET', description: 'The HTTP method.' },
        data: {
          type: {
            list: {
              object: {
                key: { type: 'string', required: true, description: 'A member of the body.' },
                value: { type: 'free', description: 'Its value.' },
              },
            },
          },
          description: 'The body of a POST.',
        },
        service: {
          type: {
            object: {
              url: { type: 'string', required: true, description: 'The address of a JSON service.' },
              caBundle: {
                type: 'string',
                description: 'PEM certificates of the authority that signed the certificate of the service.',
              },
              headers: {
                type: {
                  list: {
                    object: {
                      key: { type: 'string', required: true, description: 'The header.' },
                      value: { type: 'string', required: true, description: 'Its value.' },
                    },
                  },
                },
                description: 'Headers to send.',
              },
            },
          },
          description: 'A service other than the API server.',
        },
        jmesPath: { type: 'string', description: 'An expression over the response.' },
        default: { type: 'free', description: 'The value when the call fails.' },
      },
    },
    description: 'The response of the API server or of a service.',
  },
  imageRegistry: {
    type: {
      object: {
        reference: { type: 'string', required: true, description: 'The image.' },
        jmesPath: { type: 'string', description: "An expression over the image's data." },
        imageRegistryCredentials: { type: 'object', description: 'Credentials for the registry.' },
      },
    },
    description: 'Manifest and configuration of an image.',
  },
  globalReference: {
    type: {
      object: {
        name: {
          type: 'string',
          required: true,
          description: 'The GlobalContextEntry, or `entry.projection`.',
        },
        jmesPath: { type: 'string', description: 'An expression over its data.' },
      },
    },
    description: 'Data of a GlobalContextEntry.',
  },
};

/** `context` of a rule, a loop or a target. */
export const context = {
  type: { list: { object: contextEntry } },
  description: 'Variables and data sources, each computed when first used.',
} as const;

export const preconditions = {
  type: 'free',
  description: 'Conditions under which it applies: any, all, or (rules and targets) a plain list.',
} as const;
